"""What each kind of file holds: one module per kind, its schema and checks."""
