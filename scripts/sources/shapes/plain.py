"""One text: each column of the contract from the column of the file that the entry names."""

from collections.abc import Iterator, Mapping

from scripts.sources.published_files import Row, value


def texts(row: Row, columns: Mapping[str, str], place: str) -> Iterator[dict]:
    """The text of a row."""
    yield {name: value(row, column, place) for name, column in columns.items()}
