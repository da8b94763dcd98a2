"""Parts that several tables and the report share: rates, sizes, the remark on a shift."""

from scripts.evaluation.roc import tpr_display
from scripts.publish.rows import Row
from scripts.publish.sheet import Cell
from scripts.publish.titles import Titles, interval, share, versus


def rate(row: Row, fpr: float) -> tuple[Cell, Cell]:
    """TPR at FPR `fpr` and the realised FPR of a METRICS or GATE row.

    Both are blank where so few non-members would be false positives that the rate says nothing,
    and grey, with an interval, where they are few.
    """
    at = f"tpr_at_{fpr:g}"
    seen = tpr_display(row["nonmembers"], fpr)
    if seen == "blank" or row[at] is None:
        return Cell(), Cell()
    grey = seen == "grey"
    detail = interval(row[f"{at}_low"], row[f"{at}_high"]) if grey else ""
    return Cell(share(row[at]), detail, grey=grey), Cell(share(row[f"fpr_at_{fpr:g}"]), grey=grey)


def size(row: Row) -> str:
    """How many texts a METRICS or GATE row rests on, and in how many groups."""
    counts = []
    for label, name in (("member", "members"), ("nonmember", "non-members")):
        groups = row[f"{label}_groups"]
        within = f" in {groups:,} groups" if row["grouping"] != "none" else ""
        counts.append(f"{row[f'{label}s']:,} {name}{within}")
    return " and ".join(counts)


def remark(best: Row, titles: Titles) -> str:
    """The sentence that a dataset with a declared shift carries; `best` is its best baseline."""
    return (
        f"This dataset measures a shift: without any model {titles.baseline(best['baseline'])} "
        f"tells its classes apart (AUC {share(best['auc'])} "
        f"{interval(best['auc_low'], best['auc_high'])}, {versus(best['p_permutation'])})."
    )
