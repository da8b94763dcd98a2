"""AUC of an ensemble that learned on the domain of the row, on the domain of the column: the shape
of Tag&Tab's Figure 4, with intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.contracts.transfer import TRANSFER
from scripts.publish.parts import caveats
from scripts.publish.rows import Row, first_of, ordered
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import Titles, interval, share

FOLDS = "†"


def read(metrics: Sequence[Path], found: Sequence[Path]) -> list[Row]:
    """The rows of files of transfers."""
    return [row for path in found for row in TRANSFER.read(path).to_pylist()]


def build(rows: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table: a line per model and domain learned on, a column per domain judged."""
    titles = Titles(settings.get("titles", {}))
    rows = ordered(rows, {"models": settings.get("order", {}).get("models")})
    judged = first_of(rows, "judged_on")
    cells = {(row["model"], row["learned_on"], row["judged_on"]): _cell(row) for row in rows}
    starts = list({(row["model"], row["learned_on"]): row for row in rows}.values())
    return sheet_of(
        settings,
        starts,
        {"Model": lambda row: titles.model(row["model"])},
        [
            Column("Learned on", number=False),
            *(Column(titles.dataset(name)) for name in judged),
        ],
        lambda row: [
            Cell(titles.dataset(row["learned_on"])),
            *(cells[row["model"], row["learned_on"], name] for name in judged),
        ],
        notes=[
            "AUC (95 % interval, DeLong, clustered where texts share a group) of one classifier of "
            "scores: learned on the labels of the row's domain, judged on the column's.",
            f"{FOLDS} The two share texts or groups (on the diagonal, all): out of fold by group, "
            "so that no text is judged by what learned from its group. Such an interval is too "
            "short.",
            *(
                f"{titles.dataset(name)}: {row['members']:,} members and {row['nonmembers']:,} "
                "non-members judged."
                for name, row in judged.items()
            ),
            *caveats(settings["order"]["datasets"], gates, settings.get("notes", {}), titles),
        ],
        data=rows,
    )


def _cell(row: Row) -> Cell:
    mark = f" {FOLDS}" if row["out_of_fold"] else ""
    return Cell(share(row["auc"]) + mark, interval(row["auc_low"], row["auc_high"]))
