"""Words of a text and what is known of them without any model under attack."""
