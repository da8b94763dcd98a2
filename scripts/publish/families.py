"""Significance within declared families: one model and one dataset, all settings computed.

Ensembles are a family of their own: they learned on labels, and their p-values are one-sided.
"""

from collections.abc import Sequence

import numpy as np

from scripts.evaluation.multiplicity import holm
from scripts.publish.rows import Row, family

ALPHA = 0.05
# What is tested, and the value under the null hypothesis: all three two-sided, but for ensembles.
TESTS = {"auc": ("p", 0.5), "over_loss": ("over_loss_p", 0.0), "over_blind": ("over_blind_p", 0.0)}


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """Copies of METRICS rows with what the whole family says about each.

    `rows` must hold every setting computed for its models and datasets, shown or not. Added are
    ``tried``, the number of settings of the family, and for each of `TESTS` ``…_p_holm`` (null
    where there is no test) and ``…_verdict``: above, below, or "" where the adjusted p-value is
    not under `ALPHA`. Holm's correction is made for each test on its own.
    """
    rows = [dict(row) for row in rows]
    families: dict[tuple, list[Row]] = {}
    for row in rows:
        families.setdefault((*family(row), learned(row)), []).append(row)
    for members in families.values():
        for row in members:
            row["tried"] = len(members)
        for value, (p, null) in TESTS.items():
            _judge(members, value, p, null)
    return rows


def learned(row: Row) -> bool:
    """Whether a METRICS row is of an ensemble."""
    return bool(row.get("learned_on"))


def _judge(rows: list[Row], value: str, p: str, null: float) -> None:
    tested = [row for row in rows if row[p] is not None]
    corrected = holm(np.array([row[p] for row in tested])) if tested else []
    for row in rows:
        row[f"{value}_p_holm"], row[f"{value}_verdict"] = None, ""
    for row, p_holm in zip(tested, corrected, strict=True):
        row[f"{value}_p_holm"] = float(p_holm)
        if p_holm < ALPHA:
            row[f"{value}_verdict"] = "above" if row[value] > null else "below"
