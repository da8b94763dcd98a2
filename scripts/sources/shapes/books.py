"""BookMIA: one text, whose group is a title; in lower case and without `.txt`, to be named so."""

from collections.abc import Iterator, Mapping

from scripts.sources.published_files import Row
from scripts.sources.shapes import plain


def texts(row: Row, columns: Mapping[str, str], place: str) -> Iterator[dict]:
    """The text of a row; `columns` names that of the titles as `group`."""
    for text in plain.texts(row, columns, place):
        yield text | {"group": str(text["group"]).lower().removesuffix(".txt")}
