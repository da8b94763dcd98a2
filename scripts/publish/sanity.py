"""Check what a study's results have to look like, and write what was found as JSON.

A study's ``checks`` is a list of mappings::

    check: Loss is near chance on windows seen once     # what the report says
    rows: {model: "*-step600", dataset: lab-checkpoint, setting: loss}
    value: auc
    within: [0.47, 0.57]

``rows`` filters the rows of METRICS, ``gates`` those of GATE (one of the two). A condition is a
value, a pattern with ``*``, or a list of these, of which each has to match something: a filter
that finds nothing is a failure. ``value`` is the column that is looked at, in every row found.
The bound is one of

* ``within: [low, high]``, both included;
* ``above: x``, strictly;
* ``rises_along: [datasets]``: over these, strictly, for each model and setting on its own;
* ``near: {column: value, …}`` with ``by: x``: at most x away from the row that differs in these
  columns alone.

The output is a list of ``{check, value, bound, ok, detail}``: where a check covers several rows,
``value`` is the worst one and ``detail`` says which. A failed check never fails the run: the
report shows it in red, and so does `make`.
"""

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.errors import UserError
from scripts.publish.rows import Row, read_gates, read_metrics

Condition = object  # a value, a pattern, or a list of these
BOUNDS = ("within", "above", "rises_along", "near")


def main() -> None:
    """Read metrics and gates, judge ``settings.checks``, write the list."""
    args = arguments(__doc__, ["sanity"], ["metrics", "gates"])
    found = judge(args.settings["checks"], read_metrics(args.metrics), read_gates(args.gates))
    with replacing(args.sanity) as temporary:
        text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def judge(
    checks: Sequence[Mapping], metrics: Sequence[Row], gates: Sequence[Row]
) -> list[dict[str, object]]:
    """The result of each check; one that rises along datasets gives one per model and setting."""
    return [
        result
        for number, check in enumerate(checks)
        for result in _judge(check, metrics, gates, f"checks[{number}]")
    ]


def _judge(
    check: Mapping, metrics: Sequence[Row], gates: Sequence[Row], where: str
) -> list[dict[str, object]]:
    kinds = [key for key in BOUNDS if key in check]
    if len(kinds) != 1 or ("rows" in check) == ("gates" in check):
        raise UserError(f"{where}: give one of rows, gates and one of {', '.join(BOUNDS)}")
    rows, conditions = (metrics, check["rows"]) if "rows" in check else (gates, check["gates"])
    if kinds == ["rises_along"]:
        conditions = {**conditions, "dataset": check["rises_along"]}
    found, unmatched = select(rows, conditions)
    if unmatched:
        return [_result(check, None, False, f"nothing has {unmatched}")]
    if any(check["value"] not in row for row in found):
        raise UserError(f"{where}: no column '{check['value']}'; one of {', '.join(found[0])}")
    return _JUDGES[kinds[0]](check, found, rows)


def select(rows: Sequence[Row], conditions: Mapping[str, Condition]) -> tuple[list[Row], str]:
    """The rows that meet all conditions, and, if a part of one is met by none, which part."""
    options = {
        column: condition if isinstance(condition, list) else [condition]
        for column, condition in conditions.items()
    }
    found = [
        row
        for row in rows
        if all(any(_meets(row.get(c), option) for option in of) for c, of in options.items())
    ]
    for column, wanted in options.items():
        for option in wanted:
            if not any(_meets(row.get(column), option) for row in found):
                return [], f"{column}: {option}"
    return found, "" if found else "any row"


def _meets(value: object, condition: object) -> bool:
    if isinstance(value, str) and isinstance(condition, str):
        return fnmatchcase(value, condition)
    return value == condition


def _within(check: Mapping, found: list[Row], _: Sequence[Row]) -> list[dict[str, object]]:
    low, high = check["within"]
    return _worst(check, found, lambda value: max(low - value, value - high), operator.le)


def _above(check: Mapping, found: list[Row], _: Sequence[Row]) -> list[dict[str, object]]:
    return _worst(check, found, lambda value: check["above"] - value, operator.lt)


def _worst(
    check: Mapping,
    found: list[Row],
    excess: Callable[[float], float],
    holds: Callable[[float, float], bool],
) -> list[dict[str, object]]:
    """Judge the row with the largest excess over the bound, which `holds` compares with 0."""
    for row in found:
        if not _known(row[check["value"]]):
            return [_result(check, None, False, f"no value: {_name(row)}")]
    worst = max(found, key=lambda row: excess(row[check["value"]]))
    value = worst[check["value"]]
    detail = f"worst of {len(found):,}: {_name(worst)}" if len(found) > 1 else _name(worst)
    return [_result(check, value, holds(excess(value), 0), detail)]


def _rises(check: Mapping, found: list[Row], _: Sequence[Row]) -> list[dict[str, object]]:
    lines: dict[tuple, dict[str, Row]] = {}
    for row in found:
        lines.setdefault((row.get("model"), row.get("setting")), {})[row["dataset"]] = row
    results = []
    for names, line in lines.items():
        values = [line.get(dataset, {}).get(check["value"]) for dataset in check["rises_along"]]
        ok = all(map(_known, values)) and all(
            low < high for low, high in zip(values, values[1:], strict=False)
        )
        results.append(_result(check, values, ok, ", ".join(filter(None, names))))
    return results


def _near(check: Mapping, found: list[Row], rows: Sequence[Row]) -> list[dict[str, object]]:
    pairs = []
    for row in found:
        others, unmatched = select(rows, {key: row[key] for key in _names(row)} | check["near"])
        if unmatched:
            return [_result(check, None, False, f"nothing has {unmatched}")]
        pairs += [(row, other) for other in others]
    column = check["value"]
    for pair in pairs:
        if not all(_known(row[column]) for row in pair):
            return [_result(check, None, False, f"no value: {' and '.join(map(_name, pair))}")]
    apart = [abs(row[column] - other[column]) for row, other in pairs]
    worst = max(apart)
    detail = " and ".join(map(_name, pairs[apart.index(worst)]))
    return [_result(check, worst, worst <= check["by"], detail)]


_JUDGES = {"within": _within, "above": _above, "rises_along": _rises, "near": _near}


def _bound(check: Mapping) -> object:
    if "within" in check:
        return list(check["within"])
    if "above" in check:
        return f"> {check['above']:g}"
    return f"<= {check['by']:g}" if "near" in check else "rises"


def _known(value: object) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _names(row: Row) -> list[str]:
    keys = ("model", "dataset", "setting", "baseline", "classifier")
    return [key for key in keys if key in row]


def _name(row: Row) -> str:
    return ", ".join(str(row[key]) for key in _names(row))


def _result(check: Mapping, value: object, ok: bool, detail: str) -> dict[str, object]:
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)  # JSON has no infinity
    return {
        "check": check["check"],
        "value": value,
        "bound": _bound(check),
        "ok": bool(ok),
        "detail": detail,
    }


if __name__ == "__main__":
    run(main)
