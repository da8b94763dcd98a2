"""Read a user's file of texts as columns of plain values; where in the file each row stands.

CSV and TSV (also .gz), JSON Lines (also .gz) and Parquet. Every mistake in the file is one line.
"""

import csv
import difflib
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scripts.errors import UserError

KINDS = ".csv, .tsv, .jsonl (each also with .gz) or .parquet"


@dataclass(frozen=True)
class Records:
    """Rows of one file: a mapping from column to value for each, and its place in the file.

    A place is a line of a text file (the header of a CSV is line 1) or a row of a Parquet file
    (the first is row 1).
    """

    file: str
    rows: list[dict[str, object]]
    numbers: list[int]
    unit: str = "line"

    def place(self, index: int) -> str:
        """E.g. ``my.csv, line 4``."""
        return f"{self.file}, {self.unit} {self.numbers[index]}"


def read(path: Path, names: Mapping[str, str], required: Sequence[str]) -> Records:
    """The rows of `path` with the values of known columns, under the names of the contract.

    `names` maps each column of the contract to what the file calls it. The columns in `required`
    must be there; the rest of the file's columns are named on stderr and left out.
    """
    suffix, zipped = _suffix(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a path relative to the working directory")
    reader = _READERS.get(suffix)
    if reader is None or (zipped and suffix == ".parquet"):
        raise UserError(f"{path}: unknown kind of file '{path.suffix}'; save it as {KINDS}")
    columns, numbered = reader(path, zipped) if path.stat().st_size else ([], None)
    if not columns:
        raise UserError(f"{path} is empty; write at least the columns {' and '.join(required)}")
    wanted = _wanted(path, columns, names, required)
    rows, numbers = [], []
    for number, row in numbered(list(wanted.values())):
        rows.append({name: row[column] for name, column in wanted.items()})
        numbers.append(number)
    if not rows:
        raise UserError(f"{path} has columns but no rows; add texts")
    return Records(str(path), rows, numbers, "row" if suffix == ".parquet" else "line")


# A reader gives the file's columns, and a function from the wanted ones to numbered rows.
_Rows = Callable[[list[str]], Iterator[tuple[int, Mapping[str, object]]]]


def _suffix(path: Path) -> tuple[str, bool]:
    zipped = path.suffix.lower() == ".gz"
    return (path.with_suffix("") if zipped else path).suffix.lower(), zipped


def _wanted(
    path: Path, columns: Sequence[str], names: Mapping[str, str], required: Sequence[str]
) -> dict[str, str]:
    for name in names:
        column = names[name]
        if column in columns or (name not in required and column == name):
            continue
        near = difflib.get_close_matches(column, columns, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(columns)}"
        for separator, called in ((";", "semicolons"), ("\t", "tabs")):
            if len(columns) == 1 and separator in columns[0]:
                hint = f"its header is separated by {called}: save it with commas, or tabs as .tsv"
        raise UserError(
            f"{path} has no column '{column}' ({hint}); rename the column, "
            f"or say in the dataset's entry what it is called: columns: {{{name}: its name}}"
        )
    unused = [column for column in columns if column not in names.values()]
    if unused:
        print(f"{path}: columns that are not used: {', '.join(unused)}", file=sys.stderr)
    return {name: column for name, column in names.items() if column in columns}


def _decoded(path: Path, zipped: bool) -> str:
    try:
        content = gzip.decompress(path.read_bytes()) if zipped else path.read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path} is not a whole gzip file ({error}); make it again") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder saw the content without its byte-order mark, if there is one.
        start = error.start + (len(content) - len(error.object))
        line = content.count(b"\n", 0, start) + 1
        raise UserError(
            f"{path}, line {line}: not UTF-8 at byte {start + 1} of the file "
            f"(0x{content[start]:02x}); save the file as UTF-8"
        ) from error


def _separated(delimiter: str) -> Callable[[Path, bool], tuple[list[str], _Rows]]:
    def reader(path: Path, zipped: bool) -> tuple[list[str], _Rows]:
        csv.field_size_limit(2**31 - 1)  # a text may be a whole book
        lines = csv.reader(
            io.StringIO(_decoded(path, zipped), newline=""), delimiter=delimiter, strict=True
        )
        records = _csv_records(path, lines)
        header = next(records, (1, []))[1]
        for column in header:
            if header.count(column) > 1:
                raise UserError(f"{path}, line 1: column '{column}' comes twice; rename one")

        def rows(wanted: list[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
            for number, row in records:
                if len(row) != len(header):
                    raise UserError(
                        f"{path}, line {number}: {len(row)} fields where the header has "
                        f"{len(header)}; put texts that hold a {_SEPARATORS[delimiter]}, "
                        "a quote or a line break in double quotes"
                    )
                yield number, dict(zip(header, row, strict=True))

        return header, rows

    return reader


_SEPARATORS = {",": "comma", "\t": "tab"}


def _csv_records(path: Path, lines) -> Iterator[tuple[int, list[str]]]:
    """Records that are not blank, with the line that each starts on."""
    while True:
        number = lines.line_num + 1
        try:
            record = next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            problem = "a double quote is never closed" if "end of data" in str(error) else error
            raise UserError(
                f"{path}, line {number}: malformed ({problem}); "
                "quotes inside a quoted text must be doubled"
            ) from error
        if record:
            yield number, record


def _json_lines(path: Path, zipped: bool) -> tuple[list[str], _Rows]:
    numbered = []
    # Not splitlines(): JSON strings may hold other line separators of Unicode as they are.
    for number, line in enumerate(_decoded(path, zipped).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(
                f"{path}, line {number}: malformed JSON at character {error.pos + 1} "
                f"({error.msg}); each line must be one JSON object"
            ) from error
        if not isinstance(row, dict):
            raise UserError(
                f'{path}, line {number}: not a JSON object; write {{"text": …, "label": …}}'
            )
        numbered.append((number, row))
    columns = list(dict.fromkeys(key for _, row in numbered for key in row))

    def rows(wanted: list[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
        for number, row in numbered:
            yield number, {column: row.get(column) for column in wanted}

    return columns, rows


def _parquet(path: Path, zipped: bool) -> tuple[list[str], _Rows]:
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{path} is not a whole Parquet file ({error}); make it again") from error

    def rows(wanted: list[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
        table = pq.read_table(path, columns=wanted)
        return enumerate(table.to_pylist(), start=1)

    return schema.names, rows


_READERS = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
