"""The files that an attack reads, as batches of texts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.attacks.batch import Batch, Ragged, Reading
from scripts.contracts.extras import COUNTS, GENERATIONS, GRADIENTS
from scripts.contracts.table import Contract, provenance
from scripts.contracts.tags import TAGS
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import MOMENTS, STATISTICS, TOKENS
from scripts.errors import UserError

# Texts at a time: their numbers stay in the processor's cache. Scores do not depend on it.
BLOCK = 1_000


@dataclass(frozen=True)
class Files:
    """What an attack reads of one model and dataset; the lists hold one path, or none."""

    tokens: Path
    texts: Path
    tags: Sequence[Path] = ()
    counts: Sequence[Path] = ()
    gradients: Sequence[Path] = ()
    generations: Sequence[Path] = ()
    views: Mapping[str, Path] = field(default_factory=dict)  # tokens, by view
    references: Mapping[str, Path] = field(default_factory=dict)  # tokens, by role


def read(
    files: Files, columns: Sequence[str], seed: int
) -> tuple[list[str], Iterator[tuple[np.ndarray, Batch]]]:
    """All text ids, and batches of the texts that have a scored token, with their places.

    `columns` are names of token statistics, or `text`; nothing else is read. Files with one row
    per text must hold the same texts in the same order, else ValueError.
    """
    known = ("token_id", "start", "end", *STATISTICS)
    statistics = [name for name in columns if name in known]
    optional = [name for name in columns if name in MOMENTS]
    wrong = sorted(set(columns) - {*statistics, *optional, "text"})
    if wrong:
        valid = ", ".join(["text", *known, *MOMENTS])
        raise UserError(f"attacks, columns: no column '{wrong[0]}'; valid: {valid}")
    texts = TEXTS.read(files.texts, ["text_id", *({"text"} & set(columns))])
    ids = texts["text_id"].to_pylist()
    tables = {
        "tokens": _same(TOKENS, files.tokens, ids, ["text_id", *(statistics or ["token_id"])]),
        "texts": texts,
        "tags": _one(TAGS, files.tags, ids),
        "gradients": _one(GRADIENTS, files.gradients, ids),
        "generations": _one(GENERATIONS, files.generations, ids),
    }
    counts = _counts(files.counts[0]) if files.counts else None
    wanted = ["text_id", "variant", *(statistics or ["token_id"])]
    views = {
        # Columns that only a view of its own holds (a pass that wrote more) are read there.
        name: _by_text(path, ids, [*wanted, *optional])
        for name, path in files.views.items()
    }
    references = {name: _by_text(path, ids, wanted) for name, path in files.references.items()}
    return ids, _batches(tables, views, references, counts, seed)


def _one(contract: Contract, paths: Sequence[Path], ids: list[str]) -> pa.Table | None:
    return _same(contract, paths[0], ids) if paths else None


def _same(
    contract: Contract, path: Path, ids: list[str], columns: Sequence[str] | None = None
) -> pa.Table:
    table = contract.read(path, columns)
    _refuse_absent(path, table, columns or ())
    if table["text_id"].to_pylist() != ids:
        raise ValueError(f"{path} does not hold the dataset's texts in their order")
    return table


def _refuse_absent(path: Path, table: pa.Table, columns: Collection[str]) -> None:
    """An endpoint tells fewer statistics than a model that is read here."""
    absent = sorted(set(columns) - set(table.column_names))
    if absent:
        raise UserError(
            f"{path} has no {', '.join(absent)}: what answered for this model does not tell it; "
            "leave this attack out for it"
        )


def _by_text(path: Path, ids: list[str], columns: Sequence[str]) -> tuple[pa.Table, np.ndarray]:
    """A file of several rows per text, sorted by text and variant, with the text of each row."""
    table = TOKENS.read(path, columns)
    _refuse_absent(path, table, set(columns) - {*MOMENTS})
    place = {name: number for number, name in enumerate(ids)}
    try:
        text = np.array([place[name] for name in table["text_id"].to_pylist()], np.int64)
    except KeyError as error:
        raise ValueError(f"{path} holds a text that the dataset does not: {error}") from None
    order = np.lexsort((table["variant"].to_numpy(), text))
    return table.take(order), text[order]


def _counts(path: Path) -> np.ndarray:
    table = COUNTS.read(path)
    counts = np.zeros(provenance(path)["vocabulary"], np.int64)
    counts[table["token_id"].to_numpy()] = table["count"].to_numpy()
    return counts


def _batches(
    tables: Mapping[str, pa.Table | None],
    views: Mapping[str, tuple[pa.Table, np.ndarray]],
    references: Mapping[str, tuple[pa.Table, np.ndarray]],
    counts: np.ndarray | None,
    seed: int,
) -> Iterator[tuple[np.ndarray, Batch]]:
    for start in range(0, tables["texts"].num_rows, BLOCK):
        statistics = _lists(tables["tokens"].slice(start, BLOCK))
        lengths = next(iter(statistics.values())).lengths
        scored = np.flatnonzero(lengths)
        if len(scored) == 0:
            continue
        offsets = np.concatenate([[0], np.cumsum(lengths[scored])])
        places = start + scored
        texts, tags, gradients, generations = (
            tables[name] and tables[name].take(places)
            for name in ("texts", "tags", "gradients", "generations")
        )
        batch = Batch(
            text_ids=texts["text_id"].to_pylist(),
            columns={name: Ragged(rows.values, offsets) for name, rows in statistics.items()},
            texts=texts["text"].to_pylist() if "text" in texts.column_names else (),
            tags=_lists(tags) if tags else {},
            seed=seed,
            views={name: _reading(*view, places) for name, view in views.items()},
            references={name: _reading(*other, places) for name, other in references.items()},
            counts=counts,
            gradients={name: gradients[name].to_numpy() for name in gradients.column_names[1:]}
            if gradients
            else {},
            targets=generations["target"].to_pylist() if generations else (),
            samples=generations["samples"].to_pylist() if generations else (),
        )
        yield places, batch


def _reading(table: pa.Table, text: np.ndarray, places: np.ndarray) -> Reading:
    """The rows of `places` alone, those without a scored token left out."""
    low, high = np.searchsorted(text, [places[0], places[-1] + 1])
    table, text = table.slice(low, high - low), text[low:high]
    number = np.searchsorted(places, text)
    kept = places[number] == text
    columns = _lists(table)
    kept &= next(iter(columns.values())).lengths > 0
    if not kept.all():
        columns = _lists(table.filter(pa.array(kept)))
    return Reading(columns, number[kept])


def _lists(table: pa.Table) -> dict[str, Ragged]:
    """The list columns of a table, empty rows included, as float64 or int64."""
    ragged = {}
    for column in table.schema:
        if pa.types.is_list(column.type):
            lists = table[column.name].combine_chunks()
            lengths = lists.value_lengths().to_numpy().astype(np.int64)
            wide = np.float64 if pa.types.is_floating(column.type.value_type) else np.int64
            values = lists.flatten().to_numpy().astype(wide)
            ragged[column.name] = Ragged(values, np.concatenate([[0], np.cumsum(lengths)]))
    return ragged
