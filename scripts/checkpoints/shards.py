"""Rows that stand in training order in Megatron shards: the preshuffled Pile of the Pythia suite.

All rows have one length, so a row's place follows from its position. One row lies across each
border of two shards.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scripts.checkpoints.files import Open, numbers
from scripts.checkpoints.megatron import HEADER, Index, Joined, header
from scripts.checkpoints.rows import Batched, Row, tokens, within
from scripts.errors import UserError
from scripts.hub.spans import Span

CHECKED = 5  # rows of the index, from the first to the last


class Rows(Batched):
    """See scripts.checkpoints.rows.Rows."""

    def __init__(self, family: dict, hub: Open, order: Path | None = None):
        entry = family["rows"]
        self._files = hub(entry["repo"])
        self._joined = Joined.of(self._files.sizes(entry["files"]))
        self._bytes = 2 * family["row"]
        self._valid = within(family["vocabulary"])
        super().__init__(family["batch"], self._joined.size // self._bytes)
        content = self._files.read([(Span(entry["index"], 0, HEADER),)], what="index", again=1)[0]
        self._check(header(content, entry["index"]))

    def read(self, positions: Sequence[int]) -> list[Row]:
        """The rows at these positions."""
        items = [self._joined.spans(p * self._bytes, (p + 1) * self._bytes) for p in positions]
        found = self._files.read(items, self._valid)
        return [Row(p, tokens(content)) for p, content in zip(positions, found, strict=True)]

    def _check(self, index: Index) -> None:
        """Raise UserError unless the index describes rows of one length and these shards."""
        row, where = self._bytes // 2, f"{self._files.name}: {index.file}"
        if index.dtype != "<u2" or index.sequences * self._bytes != self._joined.size:
            raise UserError(
                f"{where}: {index.sequences} rows of {index.dtype}, but the shards hold "
                f"{self._joined.size} bytes, {self._joined.size / self._bytes:.2f} rows of {row} "
                "uint16 tokens; check `row` and `files` in families.yaml"
            )
        at = np.linspace(0, index.sequences - 1, CHECKED, dtype=np.int64).tolist()
        lengths = numbers(self._files, [index.lengths(i, i + 1) for i in at], "<i4", "index")
        places = numbers(self._files, [index.places(i, i + 1) for i in at], "<i8", "index")
        for i, (length,), (place,) in zip(at, lengths, places, strict=True):
            if (length, place) != (row, i * self._bytes):
                raise UserError(
                    f"{where}: row {i} has {length} tokens at byte {place}, not {row} at "
                    f"{i * self._bytes}; it is not in training order, or not of this family"
                )
