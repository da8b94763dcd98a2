"""Attacks on models and datasets: the shape of CheckMIABench's Table 2, with what it leaves out.

Each row is one setting: AUC with interval and SE, TPR at two FPRs with the realised FPR, paired
differences to Loss and to the dataset's best blind baseline. Significance is Holm's within the
family of all settings of a model and dataset, shown or not.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from scripts.contracts.metrics import FPRS
from scripts.evaluation.roc import tpr_display
from scripts.publish.families import ALPHA, adjusted, learned
from scripts.publish.parts import UNGATED, counts, cut, rate, remark, size
from scripts.publish.rows import (
    Row,
    first_of,
    ordered,
    read_only_metrics,
    shifts,
    with_settings,
)
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import Titles, difference, interval, probability, share

read = read_only_metrics
MARKS = {"above": " ↑", "below": " ↓", "": ""}
SHIFT = "‡"
LEARNED = "†"
_COLUMNS = (
    Column("Attack", number=False),
    Column("AUC"),
    Column("95 % interval"),
    Column("SE"),
    *(column for fpr in FPRS for column in (Column(f"TPR at {100 * fpr:g} %"), Column("FPR"))),
    Column("Over Loss"),
    Column("Over blind"),
    Column("p"),
)


def build(metrics: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table of what ``settings.order`` and ``settings.settings`` show.

    `metrics` must hold all settings computed for the models and datasets, because they are the
    families; `gates` the gates of the datasets, where there are any.
    """
    titles = Titles(settings.get("titles", {}))
    shifted, gated = shifts(gates), {row["dataset"] for row in gates}
    rows = ordered(adjusted(metrics), settings.get("order", {}))
    tried = sorted({row["tried"] for row in rows if not learned(row)})
    rows = with_settings(rows, settings.get("settings"), f"table {settings['name']}")
    return sheet_of(
        settings,
        rows,
        {
            "Model": lambda row: titles.model(row["model"]),
            "Dataset": lambda row: (
                titles.dataset(row["dataset"]) + (f" {SHIFT}" if row["dataset"] in shifted else "")
            ),
        },
        _COLUMNS,
        lambda row: _cells(row, titles, row["dataset"] in shifted),
        notes=[
            *_reading(tried, len(set(row["setting"] for row in rows if not learned(row)))),
            *_about_ensembles(rows),
            *_about_datasets(rows, shifted, gated, settings.get("notes", {}), titles),
            *_counted(rows, titles),
        ],
        data=[_tidy(row, shifted, gated) for row in rows],
        shaded=shifted,
    )


def _cells(row: Row, titles: Titles, shifted: bool) -> list[Cell]:
    verdict = row["auc_verdict"]
    cells = [
        Cell(titles.setting(row) + (f" {LEARNED}" if learned(row) else "")),
        # On a shifted dataset an AUC away from 0.5 says nothing about membership.
        Cell(share(row["auc"]) + MARKS[verdict], strong=verdict == "above" and not shifted),
        Cell(interval(row["auc_low"], row["auc_high"])),
        Cell(f"{row['auc_se']:.4f}"),
    ]
    for fpr in FPRS:
        cells += rate(row, fpr)
    return [
        *cells,
        _over(row, "over_loss"),
        _over(row, "over_blind"),
        Cell(probability(row["auc_p_holm"])),
    ]


def _over(row: Row, what: str) -> Cell:
    if row[what] is None:
        return Cell()
    verdict = row[f"{what}_verdict"]
    error = "" if learned(row) else f" ({row[f'{what}_se']:.3f})"
    text = f"{difference(row[what])}{error}{MARKS[verdict]}"
    return Cell(text, strong=verdict == "above")


def _reading(tried: list[int], shown: int) -> list[str]:
    counts = " to ".join(dict.fromkeys(str(n) for n in (tried[0], tried[-1]))) if tried else "0"
    return [
        f"{counts} settings were tried on each model and dataset; {shown} are shown. "
        "p: two-sided, AUC = 0.5, adjusted by Holm over all that were tried. "
        f"↑ significantly above (AUC: 0.5; differences: 0), ↓ below, at {100 * ALPHA:g} % after "
        "adjustment.",
        "AUC: 95 % interval on the logit scale and SE by DeLong, clustered where texts share a "
        "group. Over Loss, over blind: paired difference of AUC (SE) to Loss and to the best blind "
        "baseline of the dataset. Intervals do not contain the variance of training the target "
        "model again.",
        "TPR at x: the largest TPR at an FPR of at most x, with the FPR that is realised; blank "
        "where fewer than 5 non-members would be false positives, grey with its bootstrap "
        "interval from 5 to 10.",
    ]


def _about_ensembles(rows: Sequence[Row]) -> Iterator[str]:
    found = [row for row in rows if learned(row)]
    if found:
        yield (
            f"{LEARNED} A classifier of scores that learned on labels of the same dataset, out of "
            "fold by group: it needs labelled texts of the same source. Its p is one-sided, by "
            "permuting labels (groups, where they are nested) and learning again, and adjusted "
            f"over the {max(row['tried'] for row in found)} ensembles; the interval of an "
            "out-of-fold AUC is too short, and its differences are not tested."
        )


def _about_datasets(
    rows: Sequence[Row],
    shifted: Mapping[str, Row],
    gated: Collection[str],
    notes: Mapping[str, str],
    titles: Titles,
) -> list[str]:
    found = []
    for name, first in first_of(rows, "dataset").items():
        parts = [f"{titles.dataset(name)}: {size(first)}."]
        if name in shifted:
            parts.append(f"{SHIFT} {remark(shifted[name], titles)}")
        elif name not in gated:
            parts.append(UNGATED)
        found.append(" ".join([*parts, *filter(None, [notes.get(name)])]))
    return found


def _counted(rows: Sequence[Row], titles: Titles) -> Iterator[str]:
    """Notes on texts that were not scored like the others."""
    unscored = counts(rows, "unscored", titles.setting)
    if unscored:
        yield f"Texts without a scored token, which rank below all others: {unscored}."
    fallback = counts(rows, "fallback", titles.setting)
    if fallback:
        yield f"Of all texts scored, decided by the attack's rule for exceptions: {fallback}."
    yield from cut(rows, titles)


def _tidy(row: Row, shifted: Mapping[str, Row], gated: Collection[str]) -> Row:
    known = row["dataset"] in gated
    tidy = {**row, "shift": row["dataset"] in shifted if known else None}
    for fpr in FPRS:
        if tpr_display(row["nonmembers"], fpr) == "blank":
            at = f"tpr_at_{fpr:g}"
            tidy |= dict.fromkeys((at, f"{at}_low", f"{at}_high", f"fpr_at_{fpr:g}"))
    return tidy
