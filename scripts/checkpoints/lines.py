"""Rows that are lines of JSON in one file per checkpoint interval: Amber.

Which rows were trained between two checkpoints is known, their order between them is not; so a
"step" is such an interval, and a position is a byte of all files joined. A row is drawn by a byte:
it is the row after the one that the byte lies in. (So a row is drawn in proportion to the length of
the row before it, which is the same for members and non-members.)
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scripts.checkpoints.files import Open
from scripts.checkpoints.megatron import Joined
from scripts.checkpoints.rows import Row
from scripts.errors import UserError
from scripts.hub.spans import Span


class Rows:
    """See scripts.checkpoints.rows.Rows."""

    def __init__(self, family: dict, hub: Open, order: Path | None = None):
        entry = family["rows"]
        self._files = hub(entry["repo"])
        self._joined = Joined.of(self._files.sizes(entry["files"]))
        self._line = entry["line"]
        self._row, self._vocabulary = family["row"], family["vocabulary"]
        self.total = self._joined.size
        if len(self._joined.files) != family["steps"]:
            raise UserError(
                f"{self._files.name}: {len(self._joined.files)} files {entry['files']}, but "
                f"`steps` in families.yaml is {family['steps']}"
            )

    def start(self, step: int) -> int:
        """The first position of an interval."""
        return int(self._joined.ends[step - 1]) if step else 0

    def step(self, position: int) -> int:
        """The interval that reads a position."""
        return int(np.searchsorted(self._joined.ends, position, side="right"))

    def read(self, positions: Sequence[int]) -> list[Row]:
        """The row after each position; none where the file ends before it."""
        found: dict[int, Row | None] = {}
        lines = 1
        while waiting := [position for position in positions if position not in found]:
            # Twice a line, the first part of which is the row that the position lies in.
            spans = [self._window(position, 2 * lines * self._line) for position in waiting]
            contents = self._files.read([(span,) for span in spans], bytes.isascii)
            for position, span, content in zip(waiting, spans, contents, strict=True):
                whole = span.stop == self._size(position)
                line = _second(content, whole)
                if line is not None:
                    at = position + content.index(b"\n") + 1
                    found[position] = self._parsed(span.file, at, line) if line else None
            lines *= 2
        rows = (found[position] for position in positions)
        return [row for row in rows if row is not None]

    def _size(self, position: int) -> int:
        """Bytes of the file that a position lies in."""
        file = self.step(position)
        return self.start(file + 1) - self.start(file)

    def _window(self, position: int, size: int) -> Span:
        """So many bytes of a file from a position on, or what is left of it."""
        file = self.step(position)
        first = position - self.start(file)
        return Span(self._joined.files[file], first, min(self._size(position), first + size))

    def _parsed(self, file: str, position: int, line: bytes) -> Row:
        try:
            row = json.loads(line)
            ids = np.array(row["token_ids"], dtype=np.int64)
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{file}: a line is no row with token_ids ({error})") from error
        if len(ids) != self._row or ids.min() < 0 or ids.max() >= self._vocabulary:
            raise UserError(
                f"{file}: a row of {len(ids)} tokens up to {ids.max(initial=0)}, not {self._row} "
                f"below {self._vocabulary}"
            )
        return Row(position, ids.astype(np.int32), domain=row.get("source"))


def _second(content: bytes, whole: bool) -> bytes | None:
    """The line after the first newline; b"" where there is none, None where more must be read.

    `whole`: nothing follows `content`.
    """
    begin = content.find(b"\n") + 1
    end = content.find(b"\n", begin) if begin else -1
    if end >= 0:
        return content[begin:end]
    if not whole:
        return None
    return content[begin:] if begin else b""
