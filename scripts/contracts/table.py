"""Parquet files with a declared schema, provenance in the footer, written whole or not at all."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scripts.atomic import replacing
from scripts.errors import UserError

PROVENANCE = b"pretrace"
ROW_GROUP = 1_000  # texts: one row group of one column reads in milliseconds


@dataclass(frozen=True)
class Contract:
    """What one kind of file holds.

    `required` columns stand in every file, `optional` ones where they are known; `others` is the
    type of any further column (one per setting), None where there may be none. The columns in
    `aligned`, and optional ones beside them, are lists of one common length in each row.
    """

    kind: str
    required: pa.Schema
    optional: pa.Schema = pa.schema([])
    others: pa.DataType | None = None
    key: tuple[str, ...] = ("text_id",)
    aligned: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All columns that a file may have, in their order."""
        return [*self.required.names, *self.optional.names]

    def _known(self) -> dict[str, pa.Field]:
        return {field.name: field for schema in (self.required, self.optional) for field in schema}

    def check(self, table: pa.Table) -> None:
        """Raise ValueError where `table` breaks the contract: a bug in a step, not in user data."""
        known = self._known()
        missing = set(self.required.names) - set(table.column_names)
        if missing:
            raise ValueError(f"{self.kind}: columns missing: {sorted(missing)}")
        for field in table.schema:
            expected = known[field.name].type if field.name in known else self.others
            if field.type != expected:
                raise ValueError(f"{self.kind}: {field.name} is {field.type}, not {expected}")
            nullable = field.name in known and known[field.name].nullable
            if not nullable and table[field.name].null_count:
                raise ValueError(f"{self.kind}: {field.name} has null values")
        key = [name for name in self.key if name in table.column_names]
        if key and table.num_rows != table.select(key).group_by(key).aggregate([]).num_rows:
            raise ValueError(f"{self.kind}: {key} is not unique")
        beside = [name for name in self.optional.names if name in table.column_names]
        aligned = [*self.aligned, *beside] if self.aligned else []
        lengths = [pc.list_value_length(table[name]) for name in aligned]
        if any(length != lengths[0] for length in lengths[1:]):
            raise ValueError(f"{self.kind}: {aligned} differ in length")

    def write(self, path: Path, table: pa.Table, provenance: Mapping[str, object]) -> None:
        """Write `table` to `path` with `provenance` (JSON values) and the release in the footer."""
        self.check(table)
        known = self._known()
        # Tables come with any nullability; files of one kind must not differ in theirs.
        table = table.cast(pa.schema([known.get(field.name, field) for field in table.schema]))
        footer = {"kind": self.kind, "release": release(), **provenance}
        table = table.replace_schema_metadata(
            {PROVENANCE: json.dumps(footer, sort_keys=True, ensure_ascii=False).encode()}
        )
        with replacing(path) as temporary:
            pq.write_table(
                table,
                temporary,
                compression="zstd",
                compression_level=3,
                row_group_size=ROW_GROUP,
                use_dictionary=_leaves(table.schema, pa.types.is_string),
                column_encoding=_leaves(table.schema, pa.types.is_floating, "BYTE_STREAM_SPLIT")
                | _leaves(table.schema, pa.types.is_integer, "DELTA_BINARY_PACKED"),
            )

    def read(self, path: Path, columns: Sequence[str] | None = None) -> pa.Table:
        """Read `columns` (all by default) of a file of this kind, whole."""
        with _opened(path) as file:
            if _provenance(file).get("kind") != self.kind:
                raise UserError(f"{path} is not a file of {self.kind}; remove it and run again")
            return file.read(columns=None if columns is None else list(columns))


def provenance(path: Path) -> dict:
    """The provenance in the footer of a file that `Contract.write` wrote."""
    with _opened(path) as file:
        return _provenance(file)


def _opened(path: Path) -> pq.ParquetFile:
    # Not pq.read_table: its first call imports pyarrow.dataset, which small jobs would notice.
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, FileNotFoundError) as error:
        raise UserError(f"{path} cannot be read ({error}); remove it and run again") from error


def _provenance(file: pq.ParquetFile) -> dict:
    return json.loads((file.schema_arrow.metadata or {}).get(PROVENANCE, b"{}"))


def release() -> str:
    """The program's release, from pyproject.toml: a new release must not change any code hash."""
    root = Path(__file__).resolve().parents[2]
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]


def _leaves(schema: pa.Schema, wanted, value: str | None = None):
    """Parquet's names of the leaf columns whose type is `wanted`; a mapping to `value` if given."""
    names = []
    for field in schema:
        is_list = pa.types.is_list(field.type)
        if wanted(field.type.value_type if is_list else field.type):
            names.append(f"{field.name}.list.element" if is_list else field.name)
    return names if value is None else dict.fromkeys(names, value)
