"""Blind baselines: the shape of CheckMIABench's Table 1, with the gate's verdict.

One row for each baseline of a dataset, with the classifier that inner cross-validation chose.
"""

from collections.abc import Iterator, Mapping, Sequence

from scripts.publish.parts import rate, size
from scripts.publish.rows import Row, first_of, ordered, read_only_metrics
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import CLASSIFIERS, Titles, interval, probability, share

read = read_only_metrics
FPR = 0.01
_COLUMNS = (
    Column("Blind baseline", number=False),
    Column("AUC"),
    Column("95 % interval"),
    Column("SE"),
    Column("TPR at 1 %"),
    Column("Classifier", number=False),
    Column("Inner AUC"),
    Column("p"),
    Column("Visible from"),
    Column("Gate", number=False),
)
_CHOICE = {
    "inner": "No model is involved. The classifier of each baseline is the one with the best inner "
    "cross-validated AUC, and so is the baseline that decides the gate: both are chosen on rows "
    "that are not judged.",
    "test": "No model is involved. Classifiers and the baseline that decides the gate are chosen "
    "by their AUC on the judged rows, as CheckMIABench does: these numbers are optimistic.",
}
_NOTES = (
    "p: permutation, one-sided (AUC > 0.5). Visible from: the smallest AUC that would be seen "
    "with 80 % power. “None seen” is no proof that there is no shift below it.",
    "95 % intervals on the logit scale and SE by DeLong, clustered where texts share a group. For "
    "a baseline learned out of fold the interval is too short and the p-value counts.",
)
_LEARNED = {"aside": "learned on rows aside", "out-of-fold": "learned out of fold"}


def build(metrics: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table of the datasets in ``settings.order``; it needs no `metrics`."""
    titles = Titles(settings.get("titles", {}))
    rows = [row for row in ordered(gates, settings.get("order", {})) if row["chosen"]]
    return sheet_of(
        settings,
        rows,
        {"Dataset": lambda row: titles.dataset(row["dataset"])},
        _COLUMNS,
        lambda row: _cells(row, titles),
        notes=[*_choices(rows), *_NOTES, *_about_datasets(rows, settings.get("notes", {}), titles)],
    )


def _choices(rows: Sequence[Row]) -> list[str]:
    return [_CHOICE[selection] for selection in first_of(rows, "selection")]


def _about_datasets(rows: Sequence[Row], notes: Mapping[str, str], titles: Titles) -> Iterator[str]:
    for name, first in first_of(rows, "dataset").items():
        learned = _LEARNED.get(first["learned_on"], first["learned_on"])
        note = [f"{titles.dataset(name)}: {size(first)}, {learned}."]
        yield " ".join([*note, *filter(None, [notes.get(name)])])


def _cells(row: Row, titles: Titles) -> list[Cell]:
    verdict = ("shift" if row["shift"] else "none seen") if row["best"] else ""
    return [
        Cell(titles.baseline(row["baseline"])),
        Cell(share(row["auc"])),
        Cell(interval(row["auc_low"], row["auc_high"])),
        Cell(f"{row['auc_se']:.4f}"),
        rate(row, FPR)[0],
        Cell(CLASSIFIERS.get(row["classifier"], row["classifier"])),
        Cell(share(row["inner_auc"])),
        Cell(probability(row["p_permutation"])),
        Cell(share(row["smallest_visible_auc"])),
        Cell(verdict, strong=verdict == "shift"),
    ]
