"""Settings against each other on the same texts; p-values adjusted over the declared family."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.contracts.comparison import COMPARISON
from scripts.publish.families import ALPHA
from scripts.publish.parts import caveats
from scripts.publish.rows import Row, family, first_of, ordered, shifts
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import Titles, difference, probability, share

_COLUMNS = (
    Column("Setting", number=False),
    Column("AUC"),
    Column("Against", number=False),
    Column("AUC"),
    Column("Difference"),
    Column("95 % interval"),
    Column("p"),
    Column("Adjusted p"),
)
_CORRECTIONS = {
    "holm": "Holm's correction",
    "max_t": "step-down max-T over 10,000 joint sign flips of groups",
}


def read(metrics: Sequence[Path], found: Sequence[Path]) -> list[Row]:
    """The rows of files of comparisons."""
    return [row for path in found for row in COMPARISON.read(path).to_pylist()]


def build(rows: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table: a line per pair of settings, in the order in which they were compared."""
    titles = Titles(settings.get("titles", {}))
    shifted = shifts(gates)
    rows = ordered(rows, settings.get("order", {}))
    tried = [sum(family(row) == key for row in rows) for key in dict.fromkeys(map(family, rows))]
    names = {name for row in rows for name in (row["setting"], row["against"])}
    corrections = [_CORRECTIONS[name] for name in first_of(rows, "correction")]
    return sheet_of(
        settings,
        rows,
        titles.places,
        _COLUMNS,
        lambda row: _cells(row, titles),
        notes=[
            f"{len(names)} settings, {max(tried, default=0)} pairs on each model and dataset. "
            f"Adjusted p: two-sided, over these pairs, by {' and '.join(corrections)}. ↑ the "
            f"setting is significantly above the one it stands against, ↓ below, at "
            f"{100 * ALPHA:g} % after adjustment.",
            "Difference: of AUCs on the same texts; interval and p by DeLong, paired, clustered "
            "where texts share a group, and of this pair alone. They do not contain the variance "
            "of training the target model again.",
            *caveats([row["dataset"] for row in rows], gates, settings.get("notes", {}), titles),
        ],
        shaded=shifted,
    )


def _cells(row: Row, titles: Titles) -> list[Cell]:
    seen = row["p_adjusted"] < ALPHA
    mark = (" ↑" if row["difference"] > 0 else " ↓") if seen else ""
    low, high = difference(row["difference_low"]), difference(row["difference_high"])
    return [
        Cell(titles.named(row["setting"])),
        Cell(share(row["auc"])),
        Cell(titles.named(row["against"])),
        Cell(share(row["auc_against"])),
        Cell(difference(row["difference"]) + mark, strong=seen),
        Cell(f"[{low}, {high}]"),
        Cell(probability(row["p"])),
        Cell(probability(row["p_adjusted"])),
    ]
