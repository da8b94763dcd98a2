"""Kinds of tables, one module each.

``read(metrics, found) -> rows`` reads the files that the table is made from: METRICS, or what a
step of decisions found. ``build(rows, gates, settings) -> Sheet`` makes the table.
"""
