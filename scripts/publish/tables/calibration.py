"""Thresholds from known non-members: the FPR that they realise on others, the TPR, and what happens
to a threshold that is taken elsewhere (Tag&Tab, appendix A.3).

``settings.mismatches`` lists pairs ``{from: {model, dataset}, to: {model, dataset}}``: the
threshold of the first on the texts of the second.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.compute as pc

from scripts.contracts.calibration import CALIBRATION
from scripts.contracts.table import provenance
from scripts.evaluation.conformal import needed
from scripts.evaluation.proportions import share_interval
from scripts.publish.parts import caveats, cut
from scripts.publish.rows import Row, ordered, shifts, with_settings
from scripts.publish.sheet import Cell, Column, Sheet, sheet_of
from scripts.publish.titles import Titles, interval, share

_COLUMNS = (
    Column("Attack", number=False),
    Column("Threshold from", number=False),
    Column("Threshold"),
    Column("Non-members"),
    Column("FPR"),
    Column("95 % interval"),
    Column("TPR"),
    Column("95 % interval"),
    Column("Unlabelled called"),
)
_CLASSES = {"fpr": 0, "tpr": 1, "unlabelled": -1}


def read(metrics: Sequence[Path], found: Sequence[Path]) -> list[Row]:
    """A row per file and setting, with the scores, labels (-1 unknown) and groups of its texts."""
    rows = []
    for path in found:
        settings = provenance(path)
        table = CALIBRATION.read(path)
        table = table.filter(table["judged"])
        for name in settings["settings"]:
            part = table.filter(pc.equal(table["setting"], name))
            rows.append(
                {
                    "model": settings["model"],
                    "dataset": settings["dataset"],
                    "attack": settings["attack"],
                    "setting": name,
                    "calibrated_on": settings["calibration"] or settings["dataset"],
                    "calibrating": settings["calibrating"],
                    "truncated": settings.get("scores", {}).get("tokens", {}).get("truncated", 0),
                    "threshold": part["threshold"][0].as_py(),
                    "scores": part["score"].to_numpy(),
                    "labels": part["label"].fill_null(-1).to_numpy().astype(int),
                    "groups": part["group"].to_numpy(),
                }
            )
    return rows


def build(rows: Sequence[Row], gates: Sequence[Row], settings: Mapping) -> Sheet:
    """The table; thresholds from elsewhere stand below those of a model and dataset itself."""
    titles = Titles(settings.get("titles", {}))
    shifted, fpr = shifts(gates), settings["fpr"]
    rows = ordered(rows, settings.get("order", {}))
    rows = with_settings(rows, settings.get("settings"), f"table {settings['name']}")
    pairs = settings.get("mismatches", [])
    judged = [_applied(row, row) for row in rows if _own(row, settings)]
    for pair in pairs:
        sources, targets = ([row for row in rows if _at(row, pair[end])] for end in ("from", "to"))
        judged += [
            _applied(source, target)
            for target in targets
            for source in sources
            if source["setting"] == target["setting"]
        ]
    judged = ordered(judged, {key: settings["order"][key] for key in ("models", "datasets")})
    return sheet_of(
        settings,
        judged,
        titles.places,
        _COLUMNS,
        lambda row: _cells(row, fpr, titles),
        notes=[
            f"A text is called a member where its score is above the threshold, which known "
            f"non-members alone set, for an FPR of {100 * fpr:g} %. Non-members: how many set it; "
            "none of them is judged. FPR, TPR: realised on the other texts. Unlabelled called: how "
            f"many of unknown label are; expect {100 * fpr:g} % of those that are no members.",
            "Intervals: Clopper-Pearson, with the effective number of texts where they share a "
            f"group. ↑ the FPR is significantly above {100 * fpr:g} %, ↓ below (95 %, each on its "
            "own). They hold for this threshold; another draw of calibrating texts gives another.",
            *cut(rows, titles),
            *([_none(fpr)] if any(row["threshold"] is None for row in judged) else []),
            *(
                [
                    "A threshold from another model or dataset is not calibrated here: its FPR is "
                    "whatever the mismatch makes it."
                ]
                if pairs
                else []
            ),
            *caveats([row["dataset"] for row in judged], gates, settings.get("notes", {}), titles),
        ],
        shaded=shifted,
    )


def _none(fpr: float) -> str:
    least = needed(fpr)
    return (
        f"No threshold (none): an FPR of {100 * fpr:g} % takes {least} calibrating non-members, so "
        f"{2 * least} where half of a dataset's own calibrate. Then nothing is found, and nothing "
        "excluded: add non-members, or allow a larger FPR (`calibration_fpr`)."
    )


def _own(row: Row, settings: Mapping) -> bool:
    """Whether the table shows a row's place itself, not just as an end of a mismatch."""
    places = settings.get("places")
    return places is None or [row["model"], row["dataset"]] in places


def _at(row: Row, place: Mapping[str, str]) -> bool:
    return (row["model"], row["dataset"]) == (place["model"], place["dataset"])


def _applied(source: Row, target: Row) -> Row:
    """What the threshold of `source` does to the texts of `target`."""
    gamma = source["threshold"]
    called = None if gamma is None else target["scores"] > gamma
    row = {key: target[key] for key in ("model", "dataset", "attack", "setting")}
    row |= {
        "threshold_model": source["model"],
        "threshold_dataset": source["calibrated_on"],
        "calibrating": source["calibrating"],
        "threshold": gamma,
    }
    for name, label in _CLASSES.items():
        here = target["labels"] == label
        row[f"{name}_texts"] = int(here.sum())
        row[f"{name}_called"] = None if called is None else int(called[here].sum())
        judged = called is not None and here.any()
        found = share_interval(called[here], target["groups"][here]) if judged else [None] * 3
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))
    return row


def _cells(row: Row, fpr: float, titles: Titles) -> list[Cell]:
    mark = ""
    if row["fpr"] is not None:
        mark = " ↑" if row["fpr_low"] > fpr else " ↓" if row["fpr_high"] < fpr else ""
    unlabelled = ""
    if row["unlabelled_texts"] and row["unlabelled_called"] is not None:
        unlabelled = f"{row['unlabelled_called']:,} of {row['unlabelled_texts']:,}"
    return [
        Cell(titles.setting(row)),
        Cell(_source(row, titles)),
        Cell("none" if row["threshold"] is None else f"{row['threshold']:.4g}".replace("-", "−")),
        Cell(f"{row['calibrating']:,}"),
        Cell(share(row["fpr"]) + mark, strong=mark == " ↑"),
        _interval(row, "fpr"),
        Cell(share(row["tpr"])),
        _interval(row, "tpr"),
        Cell(unlabelled),
    ]


def _interval(row: Row, name: str) -> Cell:
    if row[name] is None:
        return Cell()
    return Cell(interval(row[f"{name}_low"], row[f"{name}_high"]))


def _source(row: Row, titles: Titles) -> str:
    parts = []
    if row["threshold_model"] != row["model"]:
        parts.append(titles.model(row["threshold_model"]))
    if row["threshold_dataset"] != row["dataset"]:
        parts.append(titles.dataset(row["threshold_dataset"]))
    return ", ".join(parts) or "own non-members"
