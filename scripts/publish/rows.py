"""Metrics and gates as plain rows, in the order that a study declares."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scripts.contracts.metrics import GATE, METRICS
from scripts.contracts.table import PROVENANCE
from scripts.errors import UserError

Row = dict[str, object]

_SETTING = re.compile(r"[^()]+\((.*)\)")


def read_metrics(paths: Iterable[Path]) -> list[Row]:
    """The rows of METRICS files, one per setting, in the order of `paths`.

    Two counts from the footers are added: ``fallback``, the texts whose score an attack's rule for
    the exception decided, and ``truncated``, the texts that the pass cut to the model's context.
    Both are of all texts that were scored: of the pool, where the dataset is a selection. And
    ``learned_on``: "out-of-fold" for an ensemble, which learned on labels, empty for an attack.
    """
    rows = []
    for path in paths:
        table = METRICS.read(path)
        scores = json.loads(table.schema.metadata[PROVENANCE]).get("scores", {})
        fallback = scores.get("fallback", {})
        truncated = scores.get("tokens", {}).get("truncated", 0)
        learned_on = scores.get("learned_on", "")
        rows += [
            {
                **row,
                "fallback": fallback.get(row["setting"], 0),
                "truncated": truncated,
                "learned_on": learned_on,
            }
            for row in table.to_pylist()
        ]
    return rows


def read_only_metrics(metrics: Iterable[Path], found: Iterable[Path]) -> list[Row]:
    """The rows of a table that is made from metrics alone."""
    return read_metrics(metrics)


def read_gates(paths: Iterable[Path]) -> list[Row]:
    """The rows of GATE files, one per classifier, in the order of `paths`."""
    return [row for path in paths for row in GATE.read(path).to_pylist()]


def ordered(rows: Iterable[Row], order: Mapping[str, Sequence[str]]) -> list[Row]:
    """The rows of what `order` lists, in its order.

    `order` maps ``models``, ``datasets``, ``attacks`` and ``baselines`` to names; a missing key
    keeps all, in the order of appearance. Settings of one attack keep their order.
    """
    rows = list(rows)
    for key in ("attack", "baseline", "dataset", "model"):  # stable sorts: the model decides first
        names = order.get(f"{key}s")
        if names is not None and any(key in row for row in rows):
            place = {name: index for index, name in enumerate(names)}
            rows = sorted(
                (row for row in rows if row[key] in place), key=lambda row: place[row[key]]
            )
    return rows


def with_settings(rows: Sequence[Row], names: Sequence[str] | None, where: str) -> list[Row]:
    """The rows of the settings `names` (None: all), within each model and dataset in that order.

    Raises UserError for a name that no row has; `where` says which table or figure asks.
    """
    if names is None:
        return list(rows)
    known = dict.fromkeys(row["setting"] for row in rows)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0)
            hint = f"; the nearest is '{near[0]}'" if near else "; there are no results"
            raise UserError(f"{where}: settings: no setting '{name}'{hint}")
    place = {name: index for index, name in enumerate(names)}
    families = {key: index for index, key in enumerate(dict.fromkeys(map(family, rows)))}
    return sorted(
        (row for row in rows if row["setting"] in place),
        key=lambda row: (families[family(row)], place[row["setting"]]),
    )


def family(row: Row) -> tuple[str, str]:
    """The family of a row: its model and dataset. Holm's correction holds within it."""
    return row["model"], row["dataset"]


def first_of(rows: Iterable[Row], key: str) -> dict[object, Row]:
    """The first row with each value of `key`, in the order of appearance."""
    found: dict[object, Row] = {}
    for row in rows:
        found.setdefault(row[key], row)
    return found


def parameters(setting: str) -> dict[str, float | str]:
    """The parameters in a setting's name: ``gap_k(window=6,ratio=0.2)`` has window and ratio."""
    found = _SETTING.fullmatch(setting)
    pairs = [pair.split("=", 1) for pair in found[1].split(",")] if found and found[1] else []
    return {key.strip(): _number(value.strip()) for key, value in pairs}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def shifts(gates: Iterable[Row]) -> dict[str, Row]:
    """The best blind baseline of each dataset whose gate declares a shift."""
    return {row["dataset"]: row for row in gates if row["best"] and row["shift"]}
