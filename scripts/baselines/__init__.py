"""Blind baselines: text features that see no model."""
