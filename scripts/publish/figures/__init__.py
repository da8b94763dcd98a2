"""Kinds of figures: one module each, ``draw(results, settings) -> Figure``."""
