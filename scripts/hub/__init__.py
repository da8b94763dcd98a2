"""The Hugging Face hub: pins, downloads that are checked, audits, and what they cost."""
