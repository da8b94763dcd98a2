"""Rows of published files, one at a time: Parquet, JSON Lines and CSV, also compressed.

These files are checked by hash when they are fetched, so that a mistake in one is the publisher's;
scripts/sources/records.py reads a user's own file, where each mistake has its line.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scripts.errors import UserError

Row = Mapping[str, object]

# What a line of JSON is called that is no object but a bare string, or a list of them.
BARE = "value"
BATCH = 256  # rows of Parquet at a time


def rows(path: Path) -> Iterator[Row]:
    """The rows of one file, in its order; UserError where it is of no kind that is known."""
    name = path.name.lower()
    for suffix, reader in _READERS.items():
        if name.endswith(suffix) or name.endswith((f"{suffix}.gz", f"{suffix}.zst")):
            return reader(path)
    raise UserError(f"{path}: no kind of file that is known; valid: {', '.join(_READERS)}")


def value(row: Row, column: str, place: str) -> object:
    """A row's value of a column; of a nested one by `outer.inner`.

    Raises UserError, with the `place` of the row, where there is none.
    """
    if column in row:
        return row[column]
    found: object = row
    for key in column.split("."):
        if not isinstance(found, Mapping) or key not in found:
            raise UserError(
                f"{place}: no column '{column}'; it has {', '.join(row)}: mend `columns` of the "
                "dataset's entry"
            )
        found = found[key]
    return found


def _text(path: Path, newline: str) -> io.TextIOWrapper:
    stream = pa.input_stream(str(path), compression="detect")
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline)


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)  # a text may be a whole book
    with _text(path, "") as lines:
        yield from csv.DictReader(lines)


def _json_lines(path: Path) -> Iterator[Row]:
    with _text(path, "\n") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}, line {number}: not JSON ({error.msg})") from error
            yield found if isinstance(found, dict) else {BARE: found}


def _parquet(path: Path) -> Iterator[Row]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH):
            yield from batch.to_pylist()


_READERS = {".parquet": _parquet, ".jsonl": _json_lines, ".csv": _csv}
