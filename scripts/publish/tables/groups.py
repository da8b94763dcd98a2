"""Attacks on whole groups (books, papers), scored by the mean of their texts, beside texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.contracts.table import provenance
from scripts.publish.families import ALPHA, adjusted
from scripts.publish.parts import caveats, size
from scripts.publish.rows import Row, first_of, ordered, read_metrics, shifts, with_settings
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import Titles, interval, probability, share

_COLUMNS = (
    Column("Attack", number=False),
    Column("AUC of texts"),
    Column("95 % interval"),
    Column("AUC of groups"),
    Column("95 % interval"),
    Column("Groups"),
    Column("p"),
)
_TEXTS = ("auc", "auc_low", "auc_high", "members", "nonmembers")


def read(metrics: Sequence[Path], found: Sequence[Path]) -> list[Row]:
    """The rows of files of groups, each with `text_…` values of the same setting on texts."""
    of_texts = {_key(row): row for row in read_metrics(metrics)}
    paths = [path for path in found if provenance(path)["unit"] == "group"]
    return [
        {**row, **{f"text_{name}": of_texts[_key(row)][name] for name in _TEXTS}}
        for row in read_metrics(paths)
    ]


def _key(row: Row) -> tuple[object, ...]:
    return row["model"], row["dataset"], row["setting"]


def build(rows: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table of what ``settings.order`` and ``settings.settings`` show."""
    titles = Titles(settings.get("titles", {}))
    shifted = shifts(gates)
    rows = ordered(adjusted(rows), settings.get("order", {}))
    tried = max((row["tried"] for row in rows), default=0)
    rows = with_settings(rows, settings.get("settings"), f"table {settings['name']}")
    return sheet_of(
        settings,
        rows,
        titles.places,
        _COLUMNS,
        lambda row: _cells(row, titles, row["dataset"] in shifted),
        notes=[
            f"The score of a group is the mean over its texts. {tried} settings were tried on each "
            "model and dataset. p: two-sided, AUC of groups = 0.5, adjusted by Holm over these. ↑ "
            f"significantly above 0.5, ↓ below, at {100 * ALPHA:g} % after adjustment.",
            "A group that holds members and non-members counts once for each, and the two stay "
            "together in its standard error. Intervals on the logit scale, with Student's t where "
            "groups are few.",
            *(
                f"{titles.dataset(name)}: {row['text_members']:,} + {row['text_nonmembers']:,} "
                f"texts; as groups {size(row)}."
                for name, row in first_of(rows, "dataset").items()
            ),
            *caveats([row["dataset"] for row in rows], gates, settings.get("notes", {}), titles),
        ],
        shaded=shifted,
    )


def _cells(row: Row, titles: Titles, shifted: bool) -> list[Cell]:
    verdict = row["auc_verdict"]
    mark = {"above": " ↑", "below": " ↓", "": ""}[verdict]
    return [
        Cell(titles.setting(row)),
        Cell(share(row["text_auc"])),
        Cell(interval(row["text_auc_low"], row["text_auc_high"])),
        Cell(share(row["auc"]) + mark, strong=verdict == "above" and not shifted),
        Cell(interval(row["auc_low"], row["auc_high"])),
        Cell(f"{row['members']:,} + {row['nonmembers']:,}"),
        Cell(probability(row["auc_p_holm"])),
    ]
