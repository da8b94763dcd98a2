"""One file per model backend."""
