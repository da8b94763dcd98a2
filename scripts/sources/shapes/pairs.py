"""A member and a non-member in two columns of one row, as MIMIR's own loader shows them.

The columns are called `member` and `nonmember`, or what `columns` of the entry says.
"""

from collections.abc import Iterator, Mapping

from scripts.sources.published_files import Row, value
from scripts.sources.shapes import plain

OWN = ("text", "label", "member", "nonmember")


def texts(row: Row, columns: Mapping[str, str], place: str) -> Iterator[dict]:
    """The two texts of a row; all other columns are those of both."""
    shared = {name: column for name, column in columns.items() if name not in OWN}
    for label, side in ((1, "member"), (0, "nonmember")):
        own = {"text": value(row, columns.get(side, side), place), "label": label}
        yield next(plain.texts(row, shared, place)) | own
