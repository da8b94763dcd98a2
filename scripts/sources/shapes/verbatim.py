"""arXivTection and BookTection: four excerpts, and the letter of the one that is verbatim."""

from collections.abc import Iterator, Mapping

from scripts.sources.published_files import Row, value
from scripts.sources.shapes import plain


def texts(row: Row, columns: Mapping[str, str], place: str) -> Iterator[dict]:
    """The verbatim excerpt of a row."""
    answer = value(row, "Answer", place)
    yield from plain.texts(row, {**columns, "text": f"Example_{answer}"}, place)
