"""Pretrace: one module per workflow step, run as ``python -m scripts.<step>``."""
