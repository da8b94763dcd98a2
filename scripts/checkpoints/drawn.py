"""Texts of a checkpoint's dataset: drawn rows with labels, steps and exposures, as tables TEXTS."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from scripts.checkpoints.rows import Row, Rows
from scripts.checkpoints.sampling import draw, ranges
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.seeds import generator

Decode = Callable[[list[list[int]]], list[str]]


@dataclass(frozen=True)
class Drawn:
    """A row with what the training did with it."""

    text_id: str
    row: Row
    label: int
    step: int  # that last saw it before the checkpoint, or the first that will
    exposures: int  # before the checkpoint


def sequences(rows: Rows, family: Mapping, settings: Mapping) -> tuple[list[Drawn], list[Drawn]]:
    """Texts and rows aside of the policies `sequence` and `held_out`, in the order of training."""
    name = settings["dataset"]
    texts, aside = [], []
    populations = ranges(settings, family, rows)
    for label, kind, population in zip((1, 0), ("members", "nonmembers"), populations, strict=True):
        rng = generator(settings["seed"], "checkpoint", name, kind)
        wanted = settings["aside"] + settings[kind]
        found = _take(rows, draw(rng, population, settings["run"]), wanted)
        if len(found) < wanted:
            raise UserError(
                f"dataset {name}: {wanted} {kind} wanted, rows aside included, but only "
                f"{len(found)} rows are there; lower `{kind}` or `aside`, or widen the window"
            )
        drawn = [
            Drawn(f"row{row.position}", row, label, rows.step(row.position), label) for row in found
        ]
        aside += drawn[: settings["aside"]]
        texts += drawn[settings["aside"] :]
    return in_order(texts), in_order(aside)


def _take(rows: Rows, positions: Iterator[int], wanted: int) -> list[Row]:
    """The first `wanted` rows at `positions`, each once; fewer where there are no more."""
    found: dict[int, Row] = {}
    while len(found) < wanted:
        batch = list(islice(positions, wanted - len(found)))
        if not batch:
            break
        for row in rows.read(batch):
            found.setdefault(row.position, row)
    return list(found.values())


def in_order(drawn: Iterable[Drawn]) -> list[Drawn]:
    """Sorted by position, whatever the order in which they were drawn."""
    return sorted(drawn, key=lambda one: one.row.position)


def table(drawn: Sequence[Drawn], tokens: int, decode: Decode) -> pa.Table:
    """Table TEXTS: the first `tokens` ids of each row, and the text that they decode to.

    Each text stands alone in its group, unless its document is known.
    """
    ids = [one.row.ids[:tokens].tolist() for one in drawn]
    columns = {
        "text_id": [one.text_id for one in drawn],
        "text": decode(ids),
        "label": [one.label for one in drawn],
        "group": [one.row.group or one.text_id for one in drawn],
        "domain": [one.row.domain for one in drawn],
        "step": [one.step for one in drawn],
        "exposures": [one.exposures for one in drawn],
        "token_ids": ids,
    }
    if not any(columns["domain"]):
        del columns["domain"]
    fields = [field for field in (*TEXTS.required, *TEXTS.optional) if field.name in columns]
    return pa.table(columns, pa.schema(fields))
