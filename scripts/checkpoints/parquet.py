"""Rows in training order as Parquet files, one per so many steps: the copy of the deduped Pile.

Whole row groups are read, of which the sampled rows alone are kept.
"""

import io
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.checkpoints.files import Files, Open
from scripts.checkpoints.rows import Batched, Row, tokens, within
from scripts.errors import UserError
from scripts.hub.spans import Span


class Rows(Batched):
    """See scripts.checkpoints.rows.Rows."""

    def __init__(self, family: dict, hub: Open, order: Path | None = None):
        self._entry = family["rows"]
        self._row = family["row"]
        self._files = hub(self._entry["repo"])
        self._sizes = self._files.sizes(self._entry["files"].replace("{last}", "*"))
        self._valid = within(family["vocabulary"])
        super().__init__(family["batch"], family["steps"] * family["batch"])

    def read(self, positions: Sequence[int]) -> list[Row]:
        """The rows at these positions."""
        keys = {p: f"row{p}" for p in positions}
        known = self._files.kept(keys.values())
        missing = defaultdict(list)
        for position in positions:
            if keys[position] not in known:
                missing[self._file(position)].append(position)
        for (file, first), wanted in sorted(missing.items()):
            fresh = self._read(file, first, sorted(wanted))
            kept = {keys[p]: ids.astype("<u2").tobytes() for p, ids in fresh.items()}
            self._files.keep(kept)
            known |= kept
        return [Row(p, tokens(known[keys[p]])) for p in positions]

    def _file(self, position: int) -> tuple[str, int]:
        """The file that holds a position, and the position of its first row."""
        steps = self._entry["steps"]
        part = self.step(position) // steps
        last = f"{(part + 1) * steps:06d}"
        return self._entry["files"].replace("{last}", last), self.start(part * steps)

    def _read(self, file: str, first: int, positions: list[int]) -> dict[int, np.ndarray]:
        if file not in self._sizes:
            raise UserError(f"{self._files.name}: no file {file}; check families.yaml")
        opened = open_parquet(self._files, file, self._sizes[file])
        ends = group_ends(opened)
        if first + int(ends[-1]) <= positions[-1]:
            raise UserError(f"{file}: {ends[-1]} rows, too few for position {positions[-1]}")
        groups = np.searchsorted(ends, np.array(positions) - first, side="right")
        found = {}
        for group in np.unique(groups):
            table = opened.read_row_group(int(group), columns=["batch_idx", "token_ids"])
            begin = first + int(ends[group] - table.num_rows)
            for position in np.array(positions)[groups == group].tolist():
                row = table.slice(position - begin, 1).to_pylist()[0]
                found[position] = self._checked(file, position, row)
        return found

    def _checked(self, file: str, position: int, row: dict) -> np.ndarray:
        ids = np.array(row["token_ids"])
        step = self.step(position)
        if row["batch_idx"] != step or len(ids) != self._row:
            raise UserError(
                f"{file}: the row of position {position} is of step {row['batch_idx']} with "
                f"{len(ids)} tokens, not of step {step} with {self._row}"
            )
        if not self._valid(ids.astype("<u2").tobytes()) or ids.min() < 0 or ids.max() >= 1 << 16:
            raise UserError(f"{file}: position {position} has ids beyond the vocabulary")
        return ids


def open_parquet(source: Files, file: str, size: int) -> pq.ParquetFile:
    """A Parquet file on the hub, of which only what is asked for is read."""
    return pq.ParquetFile(pa.PythonFile(_Remote(source, file, size), mode="r"))


def group_ends(file: pq.ParquetFile) -> np.ndarray:
    """Rows up to and with each row group."""
    groups = range(file.num_row_groups)
    return np.cumsum([file.metadata.row_group(g).num_rows for g in groups], dtype=np.int64)


class _Remote(io.RawIOBase):
    """A file to read from, by ranges."""

    def __init__(self, source: Files, file: str, size: int):
        super().__init__()
        self._source, self._file, self._size, self._at = source, file, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        stop = self._size if size < 0 else min(self._size, self._at + size)
        if stop <= self._at:
            return b""
        content = b"".join(self._source.stream(Span(self._file, self._at, stop)))
        self._at = stop
        return content
