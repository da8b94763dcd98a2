"""A user's own texts: one CSV, TSV, JSONL or Parquet file, and perhaps a second one of rows aside.

Columns: `text` and `label` (1 member, 0 non-member, blank unknown); where there are any `group`
(the book or page a text is from; default: each text on its own), `text_id` (default: a hash of the
text, so that other rows never change it), `domain`, `date` (ISO 8601) and `aside` (true: a row that
is never evaluated). The dataset's entry says what they are called in the file, where it differs:

    my-texts: {source: file, path: my.csv, columns: {text: snippet}, aside: other.csv}
"""

import difflib
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from scripts.errors import UserError
from scripts.sources import values
from scripts.sources.loaded import Loaded
from scripts.sources.records import Records, read

REQUIRED = ("text", "label")
OPTIONAL = ("group", "text_id", "domain", "date", "aside")


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
        texts=values.table(evaluated, optional),
        aside=values.table([row for row in rows if row["aside"]], optional),
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
    for index, given in enumerate(records.rows):
        row: dict[str, object] = {"place": records.place(index)}
        for name, check in _CHECKS.items():
            if name not in given and name not in REQUIRED:
                row[name] = None
                continue
            try:
                row[name] = check(given[name])
            except ValueError as error:
                at = f"{row['place']}, column '{names[name]}'"
                raise UserError(f"{at}: {error}") from error
        row["text_id"] = row["text_id"] or hashlib.sha256(row["text"].encode()).hexdigest()[:16]
        row["group"] = row["group"] or row["text_id"]
        row["aside"] = bool(row["aside"])
        checked.append(row)
    return checked


def _text(value: object) -> str:
    """A text that every tokenizer reads to its end."""
    text = values.text(value)
    if "\0" in text:
        raise ValueError(
            f"character {text.index(chr(0)) + 1} is a NUL byte, which tokenizers drop or stop "
            "at; remove it (a file full of them is UTF-16: save it as UTF-8)"
        )
    return text


_CHECKS: dict[str, Callable] = {
    "text": _text,
    "label": values.label,
    "group": values.name,
    "text_id": values.name,
    "domain": values.optional,
    "date": values.date,
    "aside": values.flag,
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
                f"{values.shown(row['text_id'])} as {first['place']}; give each row its own"
            )
