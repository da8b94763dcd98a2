"""What the kinds of rows need of files that lie elsewhere; scripts.checkpoints.origins has it.

Apart from it, so that how bytes travel (and are checked) is no part of what decides a dataset.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from scripts.hub.spans import Span, Spans


class Files(Protocol):
    """Files that never change under one name."""

    name: str

    def sizes(self, *patterns: str) -> dict[str, int]:
        """Bytes of files by name: in the order of the patterns, and of names below each."""

    def read(
        self,
        items: Sequence[Spans],
        valid: Callable[[bytes], bool] = bool,
        what: str = "rows",
        again: int = 100,
        free: int = 0,
    ) -> list[bytes]:
        """The bytes of each item, its spans joined; one in `again` requests is made twice, and gaps
        up to `free` bytes are read along.
        """

    def stream(self, span: Span, what: str = "file") -> Iterator[bytes]:
        """A long range in order, part by part."""

    def kept(self, keys: Iterable[str]) -> dict[str, bytes]:
        """What `keep` kept under these keys."""

    def keep(self, items: Mapping[str, bytes]) -> None:
        """Keep what was made of these files, for the next time."""


Open = Callable[[str], Files]  # a dataset repo of the hub by its id, or a web folder by its URL
HEADERS = 1 << 10  # bytes of a request's and its answer's headers, about


def numbers(
    files: Files, spans: Sequence[Span], dtype: np.dtype | str, what: str
) -> list[np.ndarray]:
    """The numbers at each of `spans`, each read twice: a wrong one would go unnoticed."""
    found = files.read([(span,) for span in spans], what=what, again=1, free=HEADERS)
    return [np.frombuffer(content, dtype) for content in found]
