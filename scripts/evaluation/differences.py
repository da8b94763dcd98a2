"""Paired differences of AUC on the same texts, as columns of METRICS."""

import numpy as np

from scripts.evaluation.delong import p_value, paired
from scripts.evaluation.sample import Sample


def add_differences(
    rows: list[dict], scores: np.ndarray, reference: np.ndarray, sample: Sample, column: str
) -> None:
    """Add the AUC of each row less that of `reference` [n], on the same texts, and its test.

    `scores` [S, n] are those of the `rows`, in their order.
    """
    differences, errors = paired(scores, reference, sample)
    for row, difference, error in zip(rows, differences.tolist(), errors.tolist(), strict=True):
        found = difference, error, p_value(difference, error, sample)
        row |= dict(zip(_columns(column), found, strict=True))


def add_over_loss(
    rows: list[dict], scores: np.ndarray, loss: np.ndarray, sample: Sample, itself: str | None
) -> None:
    """Add differences to Loss; none to the row of the setting `itself`, which is that Loss."""
    add_differences(rows, scores, loss, sample, "over_loss")
    for row in rows:
        if row["setting"] == itself:
            row |= dict.fromkeys(_columns("over_loss"))


def _columns(column: str) -> list[str]:
    return [column, f"{column}_se", f"{column}_p"]
