"""Rows of a published split: the first ones of its Parquet files, checked."""

from collections.abc import Mapping

import numpy as np

from scripts.checkpoints.drawn import Drawn
from scripts.checkpoints.files import Files
from scripts.checkpoints.parquet import open_parquet
from scripts.checkpoints.rows import Row
from scripts.errors import UserError

SPLITS = {"members": (1, "data/member-*.parquet"), "nonmembers": (0, "data/nonmember-*.parquet")}
NO_STEP = -1  # those that the authors recorded are known to be wrong


def split(place: Files, family: Mapping, settings: Mapping) -> tuple[list[Drawn], list[Drawn]]:
    """Texts and rows aside: of each split `aside` rows from the start, then those to evaluate."""
    texts, aside = [], []
    for kind, (label, pattern) in SPLITS.items():
        rows = first_rows(place, pattern, settings["aside"] + settings[kind])
        where = f"{place.name}: {pattern}"
        found = [
            Drawn(f"{kind[:-1]}{n}", Row(n, ids), label, NO_STEP, label)
            for n, ids in enumerate(checked(rows, settings["tokens"], family["vocabulary"], where))
        ]
        aside += found[: settings["aside"]]
        texts += found[settings["aside"] :]
    return texts, aside


def first_rows(place: Files, pattern: str, wanted: int) -> list[np.ndarray]:
    """The ids of the first `wanted` rows of the files that match `pattern`, in their order.

    Only the row groups that hold them are read.
    """
    rows: list[np.ndarray] = []
    for file, size in place.sizes(pattern).items():
        opened = open_parquet(place, file, size)
        for group in range(opened.num_row_groups):
            if len(rows) >= wanted:
                return rows[:wanted]
            column = opened.read_row_group(group, columns=["tokens"])["tokens"]
            rows += [np.array(ids) for ids in column.to_pylist()]
    if len(rows) < wanted:
        raise UserError(
            f"{place.name}: {len(rows)} rows in {pattern}, {wanted} wanted; lower `members`, "
            "`nonmembers` or `aside`"
        )
    return rows[:wanted]


def checked(rows: list[np.ndarray], tokens: int, vocabulary: int, where: str) -> list[np.ndarray]:
    """The rows as int32, each at least `tokens` long and within the vocabulary, or UserError."""
    for number, ids in enumerate(rows):
        if len(ids) < tokens or ids.min() < 0 or ids.max() >= vocabulary:
            raise UserError(
                f"{where}, row {number}: {len(ids)} tokens up to {ids.max(initial=0)}, "
                f"not at least {tokens} below {vocabulary}"
            )
    return [ids.astype(np.int32) for ids in rows]
