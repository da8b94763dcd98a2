"""A user's own texts: one CSV, TSV, JSONL or Parquet file, and perhaps a second one of rows aside.

Columns: `text` and `label` (1 member, 0 non-member, blank unknown); where there are any `group`
(the book or page a text is from; default: each text on its own), `text_id` (default: a hash of the
text, so that other rows never change it), `domain`, `date` (ISO 8601) and `aside` (true: a row that
is never evaluated). The dataset's entry says what they are called in the file, where it differs:

    my-texts: {source: file, path: my.csv, columns: {text: snippet}, aside: other.csv}
"""

import datetime
import difflib
import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.sources.loaded import Loaded
from scripts.sources.records import Records, read

REQUIRED = ("text", "label")
OPTIONAL = ("group", "text_id", "domain", "date", "aside")
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ].*)?)?)?")


def load(inputs: list[Path], settings: dict) -> Loaded:
    """The texts of `inputs[0]`, and those of `inputs[1]`, if given, as rows aside.

    `settings` is the dataset's entry; of it only `columns` decides what is read. Raises UserError,
    one line with file, line or row and column, for whatever the user has to mend.
    """
    names = _names(settings)
    rows: list[dict] = []
    for number, path in enumerate(inputs):
        records = read(path, names, REQUIRED)
        rows += [{**row, "aside": True} if number else row for row in _checked(records, names)]
    _refuse_doubles(rows, names)
    evaluated = [row for row in rows if not row["aside"]]
    if not evaluated:
        raise UserError(f"{inputs[0]}: every row is aside; leave some rows to evaluate")
    optional = [name for name in ("domain", "date") if any(row[name] for row in rows)]
    return Loaded(
        texts=_table(evaluated, optional),
        aside=_table([row for row in rows if row["aside"]], optional),
        provenance={
            "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs}
        },
    )


def _names(settings: dict) -> dict[str, str]:
    """What the file calls each column of the contract."""
    known = (*REQUIRED, *OPTIONAL)
    given = settings.get("columns", {})
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid: {', '.join(known)}"
            raise UserError(f"dataset {settings['dataset']}: columns: no column '{key}'; {hint}")
    return {name: given.get(name, name) for name in known}


def _checked(records: Records, names: dict[str, str]) -> list[dict]:
    """The rows with checked values of all columns; `place` says where each stands."""
    checked = []
    for index, values in enumerate(records.rows):
        row: dict[str, object] = {"place": records.place(index)}
        for name, check in _CHECKS.items():
            if name not in values and name not in REQUIRED:
                row[name] = None
                continue
            try:
                row[name] = check(values[name])
            except ValueError as error:
                at = f"{row['place']}, column '{names[name]}'"
                raise UserError(f"{at}: {error}") from error
        row["text_id"] = row["text_id"] or hashlib.sha256(row["text"].encode()).hexdigest()[:16]
        row["group"] = row["group"] or row["text_id"]
        row["aside"] = bool(row["aside"])
        checked.append(row)
    return checked


def _shown(value: object) -> str:
    text = str(value)
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def _encodable(value: str) -> str:
    """The same string; ValueError where it holds half a surrogate pair, as JSON escapes can."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start + 1} is half of a surrogate pair; write it whole"
        ) from error
    return value


def _text(value: object) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise ValueError("the text is empty; fill it in or remove the row")
    if not isinstance(value, str):
        raise ValueError(f"the text is {type(value).__name__} {_shown(value)}; it must be a string")
    return _encodable(value)


def _label(value: object) -> int | None:
    # 0.0 and 1.0 are what tables with blank labels are exported as.
    if isinstance(value, str):
        value = {"": None, "0": 0, "1": 1, "0.0": 0, "1.0": 1}.get(value.strip(), value)
    if value is None:
        return None
    if type(value) in (int, float) and value in (0, 1):  # not bool: True is no number here
        return int(value)
    raise ValueError(
        f"label {_shown(value)} ({type(value).__name__}) is not 0 or 1; "
        "write 1 for a member, 0 for a non-member, nothing where it is unknown"
    )


def _name(value: object) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise ValueError("it is blank; fill it in, or remove the whole column")
    if isinstance(value, str) or type(value) is int:
        return _encodable(str(value))
    raise ValueError(f"{_shown(value)} is {type(value).__name__}; it must be a string")


def _optional(value: object) -> str | None:
    return None if value is None or value == "" else _name(value)


def _date(value: object) -> str | None:
    if isinstance(value, datetime.date):
        return value.isoformat()
    text = _optional(value)
    if text is not None:
        text = text.strip()
        try:
            if not DATE.fullmatch(text):
                raise ValueError
            datetime.datetime.fromisoformat(text + "0000-01-01"[len(text) :])  # first day of
        except ValueError:
            raise ValueError(
                f"{_shown(value)} is no date; write it as 1999, 1999-12 or 1999-12-31"
            ) from None
    return text


def _flag(value: object) -> bool:
    if isinstance(value, str):
        value = {"": None, "0": False, "1": True, "false": False, "true": True}.get(
            value.strip().lower(), value
        )
    if value is None or isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise ValueError(f"{_shown(value)} is not true or false")


_CHECKS: dict[str, Callable] = {
    "text": _text,
    "label": _label,
    "group": _name,
    "text_id": _name,
    "domain": _optional,
    "date": _date,
    "aside": _flag,
}


def _refuse_doubles(rows: Iterable[dict], names: dict[str, str]) -> None:
    """Raise UserError for a text or a text_id that comes twice, in whichever rows."""
    texts: dict[str, dict] = {}
    ids: dict[str, dict] = {}
    for row in rows:
        first = texts.setdefault(row["text"], row)
        if first is not row:
            what = (
                "the same text as {}, and one of the two is aside: a text aside must not be "
                "evaluated; remove one"
                if first["aside"] != row["aside"]
                else "the same text as {}; remove one of the two"
            )
            at = f"{row['place']}, column '{names['text']}'"
            raise UserError(f"{at}: {what.format(first['place'])}")
        first = ids.setdefault(row["text_id"], row)
        if first is not row:
            raise UserError(
                f"{row['place']}, column '{names['text_id']}': the same text_id "
                f"{_shown(row['text_id'])} as {first['place']}; give each row its own"
            )


def _table(rows: list[dict], optional: list[str]) -> pa.Table:
    fields = [*TEXTS.required, *(field for field in TEXTS.optional if field.name in optional)]
    return pa.Table.from_pylist(
        [{field.name: row[field.name] for field in fields} for row in rows], pa.schema(fields)
    )
