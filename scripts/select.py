"""Select a dataset out of another: a part of its rows, with labels by conditions on columns."""

import difflib
import json
import sys
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.cli import arguments, run
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError

FORMS = (("members", "nonmembers"), ("where",))
SHOWN = 8  # distinct values that a message lists


def matches(texts: pa.Table, conditions: Mapping[str, object], where: str) -> np.ndarray:
    """Which rows of `texts` fulfil all `conditions`; a bool for each.

    A condition is a column with a value, a list of values, ``{from: a, below: b}`` (a <= x < b,
    either end may be left out) or ``{not: values}``. A null never matches. `where` names the
    conditions in errors.
    """
    kept = np.ones(texts.num_rows, dtype=bool)
    for column, condition in conditions.items():
        if column not in texts.column_names:
            near = difflib.get_close_matches(column, texts.column_names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else _listed(texts.column_names)
            raise UserError(f"{where}: the pool has no column '{column}'; {hint}")
        kept &= _fulfils(texts[column], condition, f"{where}.{column}")
    return kept


def _fulfils(values: pa.ChunkedArray, condition: object, where: str) -> np.ndarray:
    try:
        if isinstance(condition, Mapping) and set(condition) == {"not"}:
            left_out = _fulfils(values, condition["not"], where)
            return pc.is_valid(values).to_numpy() & ~left_out
        if isinstance(condition, Mapping):
            if not condition or set(condition) - {"from", "below"}:
                raise UserError(
                    f"{where}: a range has the keys 'from' and 'below'; other conditions: `not`"
                )
            kept = np.ones(len(values), dtype=bool)
            for key, compare in (("from", pc.greater_equal), ("below", pc.less)):
                if key in condition:
                    bound = pa.scalar(condition[key], values.type)
                    kept &= pc.fill_null(compare(values, bound), False).to_numpy()
            return kept
        wanted = condition if isinstance(condition, list) else [condition]
        return pc.is_in(values, pa.array(wanted, values.type), skip_nulls=True).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        kind = "strings: put the value in quotes" if values.type == pa.string() else values.type
        raise UserError(f"{where}: {json.dumps(condition)} does not fit {kind}") from error


def select(texts: pa.Table, conditions: Mapping[str, Mapping], where: str) -> pa.Table:
    """The rows of `texts` that `conditions` name, in their order.

    `conditions` holds `members` and `nonmembers`, which set the label to 1 and 0, or `where`, which
    keeps labels as they are. Raises UserError where a row matches both.
    """
    if set(conditions) not in map(set, FORMS):
        raise UserError(
            f"{where}: give 'members' and 'nonmembers', or 'where' alone; it has "
            f"{', '.join(sorted(conditions)) or 'none of them'}"
        )
    if "where" in conditions:
        return texts.filter(pa.array(matches(texts, conditions["where"], f"{where}: where")))
    members, nonmembers = (
        matches(texts, conditions[key], f"{where}: {key}") for key in ("members", "nonmembers")
    )
    both = members & nonmembers
    if both.any():
        first = texts["text_id"][int(np.argmax(both))].as_py()
        raise UserError(
            f"{where}: {int(both.sum())} texts match members and nonmembers (first: {first}); "
            "make the conditions exclude each other"
        )
    labelled = texts.set_column(
        texts.schema.get_field_index("label"),
        TEXTS.required.field("label"),
        pa.array(members.astype(np.int8)),
    )
    return labelled.filter(pa.array(members | nonmembers))


def refuse_empty(
    selected: pa.Table, texts: pa.Table, conditions: Mapping[str, Mapping], where: str
) -> None:
    """Raise UserError where a condition of `conditions` left no row of the pool `texts`, or leaves
    out what is not there: a value that is misspelt would stay.
    """
    for key, columns in conditions.items():
        for column, condition in columns.items():
            if isinstance(condition, Mapping) and not isinstance(condition.get("not", {}), Mapping):
                _refuse_absent(texts[column], condition["not"], f"{where}: {key}.{column}.not")
        label = {"members": 1, "nonmembers": 0}.get(key)
        found = selected if label is None else selected.filter(pc.equal(selected["label"], label))
        if found.num_rows == 0:
            held = "; ".join(f"{name} holds {_held(texts[name])}" for name in columns)
            raise UserError(
                f"{where}: no text of the pool matches {key} {json.dumps(columns)}; {held}"
            )


def _refuse_absent(values: pa.ChunkedArray, left_out: object, where: str) -> None:
    wanted = left_out if isinstance(left_out, list) else [left_out]
    missing = set(wanted) - set(pc.unique(values).to_pylist())
    if missing:
        raise UserError(f"{where}: no text has {json.dumps(sorted(missing)[0])}; mend or remove it")


def _held(values: pa.ChunkedArray) -> str:
    distinct = pc.unique(values.drop_null())
    if len(distinct) > SHOWN:
        return f"{pc.min(distinct)} to {pc.max(distinct)}"
    return _listed(sorted(distinct.to_pylist())) if len(distinct) else "nothing"


def _listed(values: list) -> str:
    return ", ".join(str(value) for value in values)


def main() -> None:
    """Select texts and rows aside from those of the pool."""
    args = arguments(__doc__, ["texts", "aside", "selected", "selected-aside"])
    dataset = args.settings["dataset"]
    conditions = {key: args.settings[key] for form in FORMS for key in form if key in args.settings}
    origin = provenance(args.texts)
    pool, pool_aside = TEXTS.read(args.texts), TEXTS.read(args.aside)

    where = f"dataset {dataset}"
    selected = select(pool, conditions, where)
    refuse_empty(selected, pool, conditions, where)

    # Conditions that are written for the rows aside must match; the members' own need not.
    own = args.settings.get("aside")
    aside = select(pool_aside, own or conditions, f"{where}: aside" if own else where)
    if own:
        refuse_empty(aside, pool_aside, own, f"{where}: aside")

    kept = {key: value for key, value in origin.items() if key not in ("kind", "release")}
    footer = {
        **kept,
        "dataset": dataset,
        "of": origin["dataset"],
        "conditions": conditions,
        "conditions_aside": own or conditions,
    }
    TEXTS.write(args.selected, selected, footer)
    TEXTS.write(args.selected_aside, aside, footer)
    print(
        f"{dataset}: {selected.num_rows} of {pool.num_rows} texts, "
        f"{aside.num_rows} of {pool_aside.num_rows} aside",
        file=sys.stderr,
    )


if __name__ == "__main__":
    run(main)
