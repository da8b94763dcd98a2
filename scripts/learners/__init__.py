"""Classifiers on scores of attacks: one module each, ``pipeline(seed)``."""
