"""One file per kind of data source."""
