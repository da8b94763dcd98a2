"""Kinds of tables: one module each, ``build(metrics, gates, settings) -> Sheet``."""
