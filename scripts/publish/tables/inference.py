"""Dataset inference: was a set of texts trained on? p-values against the number of texts tested,
and the test's own false positives."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import kstest

from scripts.contracts.inference import INFERENCE, SUSPECT
from scripts.contracts.table import provenance
from scripts.evaluation.proportions import clopper_pearson
from scripts.publish.families import ALPHA
from scripts.publish.parts import caveats
from scripts.publish.rows import Row, ordered, shifts
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import Titles, difference, interval, probability, share


def read(metrics: Sequence[Path], found: Sequence[Path]) -> list[Row]:
    """A row per model and dataset: `tests` of the suspect set by size, `nulls` the p-values of
    random halves of the held-out set."""
    rows = []
    for path in found:
        settings = provenance(path)
        tests = INFERENCE.read(path).to_pylist()
        rows.append(
            {
                "model": settings["model"],
                "dataset": settings["dataset"],
                "tests": [row for row in tests if row["split"] == SUSPECT],
                "nulls": [row["p"] for row in tests if row["split"] != SUSPECT],
            }
        )
    return rows


def build(rows: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table: a line per model and dataset, a column per number of texts tested."""
    titles = Titles(settings.get("titles", {}))
    shifted = shifts(gates)
    rows = ordered(rows, settings.get("order", {}))
    sizes = sorted({_texts(test) for row in rows for test in row["tests"][:-1]})
    return sheet_of(
        settings,
        rows,
        titles.places,
        [
            *(Column(f"p, {size:,} texts") for size in sizes),
            Column("p, all"),
            Column("Texts"),
            Column("Difference"),
            Column("False positives"),
            Column("Uniform"),
        ],
        lambda row: _cells(row, sizes, row["dataset"] in shifted),
        notes=[
            "p: one-sided, that the suspect set (label 1) scores higher than the held-out set "
            "(label 0), by Welch's test, clustered where texts share a group. Scores of several "
            "settings "
            "are combined by a logistic regression that learned on the other half of the groups. "
            "Texts: tested of each set; empty where these are of fewer than two groups.",
            f"False positives: share of p < {ALPHA:g} (95 % interval) when random halves of the "
            "held-out set are tested against each other, where there is nothing to find. Uniform: "
            "Kolmogorov-Smirnov p of these p-values; they share their texts, so it is a guide.",
            "The test finds any difference between the two sets. It speaks of training only where "
            "they are alike but for it: of one source, one period, one kind.",
            *caveats([row["dataset"] for row in rows], gates, settings.get("notes", {}), titles),
        ],
        shaded=shifted,
        data=[line for row in rows for line in _tidy(row)],
    )


def _texts(test: Row) -> int:
    return max(test["suspects"], test["held_out"])


def _cells(row: Row, sizes: Sequence[int], shifted: bool) -> list[Cell]:
    by_size = {_texts(test): test["p"] for test in row["tests"][:-1]}
    full = row["tests"][-1]
    seen = full["p"] is not None and full["p"] < ALPHA
    found = _false_positives(row)
    effect = ""
    if full["difference"] is not None:
        effect = f"{difference(full['difference'])} ({full['se']:.3f})"
    return [
        *(Cell(probability(by_size.get(size))) for size in sizes),
        Cell(probability(full["p"]), strong=seen and not shifted),
        Cell(f"{full['suspects']:,} + {full['held_out']:,}"),
        Cell(effect),
        Cell(share(found["share"]), interval(found["low"], found["high"])),
        Cell(probability(found["uniform"])),
    ]


def _false_positives(row: Row) -> dict[str, float]:
    nulls = np.array([p for p in row["nulls"] if p is not None])
    low, high = clopper_pearson((nulls < ALPHA).mean(), len(nulls))
    return {
        "share": float((nulls < ALPHA).mean()),
        "low": low,
        "high": high,
        "uniform": float(kstest(nulls, "uniform").pvalue),
    }


def _tidy(row: Row) -> list[Row]:
    found = {f"false_positives_{key}": value for key, value in _false_positives(row).items()}
    place = {key: row[key] for key in ("model", "dataset")}
    tests = [{key: test[key] for key in test if key != "split"} for test in row["tests"]]
    return [{**place, **test, **found} for test in tests]
