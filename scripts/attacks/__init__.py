"""One file per attack: a docstring with formula and source, one pure function."""
