"""Rows that published index maps put together from documents: PolyPythias, the standard Pile.

The maps are gpt-neox's: position -> sample (`shuffle`), sample -> where it begins (`sample`: index
in the next map and token of that document), joined copies -> documents (`doc`). They cover all
samples of the pool, also those that the training never came to.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.checkpoints.documents import Documents
from scripts.checkpoints.files import Files, Open, numbers
from scripts.checkpoints.rows import Batched, Row
from scripts.errors import UserError
from scripts.hub.spans import Span

MAPS = ("shuffle", "sample", "doc")


@dataclass(frozen=True)
class Map:
    """A ``.npy`` file whose rows are read by number."""

    file: str
    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int  # bytes of its header

    @classmethod
    def open(cls, files: Files, file: str, size: int) -> "Map":
        """Read and check the header."""
        head = files.read([(Span(file, 0, min(size, 256)),)], what="maps", again=1)[0]
        try:
            stream = io.BytesIO(head)
            np.lib.format.read_magic(stream)
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        except ValueError as error:
            raise UserError(f"{file} is no .npy file ({error})") from error
        found = cls(file, dtype, shape, stream.tell())
        if fortran or size != found.begin + dtype.itemsize * int(np.prod(shape)):
            raise UserError(f"{file}: {size} bytes do not hold {shape} numbers of {dtype}")
        return found

    def rows(self, files: Files, wanted: Sequence[tuple[int, int]]) -> list[np.ndarray]:
        """Rows `first` to `last` (without it) of each pair."""
        width = self.dtype.itemsize * int(np.prod(self.shape[1:]))
        spans = [Span(self.file, self.begin + width * a, self.begin + width * b) for a, b in wanted]
        found = numbers(files, spans, self.dtype, "maps")
        return [values.reshape(-1, *self.shape[1:]) for values in found]


class Rows(Batched):
    """See scripts.checkpoints.rows.Rows."""

    def __init__(self, family: dict, hub: Open, order: Path | None = None):
        entry = family["rows"]
        self._files = hub(entry["repo"])
        self._maps = {}
        for name in MAPS:
            sizes = self._files.sizes(entry["maps"].replace("{map}", name))
            if len(sizes) > 1:
                raise UserError(f"{self._files.name}: {' and '.join(sizes)} match {entry['maps']}")
            ((file, size),) = sizes.items()
            self._maps[name] = Map.open(self._files, file, size)
        self._documents = Documents(family, hub)
        self._row = family["row"]
        super().__init__(family["batch"], self._maps["shuffle"].shape[0])

    def read(self, positions: Sequence[int]) -> list[Row]:
        """The rows at these positions."""
        shuffle, sample, doc = (self._maps[name] for name in MAPS)
        samples = shuffle.rows(self._files, [(p, p + 1) for p in positions])
        ends = sample.rows(self._files, [(int(s[0]), int(s[0]) + 2) for s in samples])
        copies = doc.rows(self._files, [(int(a[0]), int(b[0]) + 1) for a, b in ends])
        parts = [
            _parts(documents, int(begin[1]), int(end[1]) + 1)
            for documents, (begin, end) in zip(copies, ends, strict=True)
        ]
        lengths = self._documents.lengths({d for found in parts for d, _, _ in found})
        whole = [[(d, a, lengths[d] if b is None else b) for d, a, b in found] for found in parts]
        texts = self._documents.read(whole)
        together = zip(positions, whole, texts, strict=True)
        return [self._row_of(position, item, ids) for position, item, ids in together]

    def _row_of(self, position: int, parts: list[tuple[int, int, int]], ids: np.ndarray) -> Row:
        if len(ids) != self._row:
            raise UserError(
                f"position {position}: its maps give {len(ids)} tokens, not {self._row}; maps and "
                "documents are not of the same data"
            )
        longest = max(parts, key=lambda part: part[2] - part[1])
        return Row(position, ids, f"document{longest[0]}")


def _parts(documents: np.ndarray, begin: int, end: int) -> list[tuple[int, int, int | None]]:
    """(document, first token, last token (without it; None: to its end)) of a sample.

    It begins at token `begin` of the first document and ends before token `end` of the last one.
    """
    last = len(documents) - 1
    return [
        (int(document), begin if i == 0 else 0, end if i == last else None)
        for i, document in enumerate(documents)
    ]
