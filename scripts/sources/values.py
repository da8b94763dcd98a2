"""Checks of single values, shared by the sources: a value of the contract, or ValueError.

Each message says what is wrong and what to do; the caller adds where the value stands.
"""

import datetime
import re

import pyarrow as pa

from scripts.contracts.texts import TEXTS

DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ].*)?)?)?")


def shown(value: object) -> str:
    """A value as messages quote it."""
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


def text(value: object) -> str:
    """A text that is not blank."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise ValueError("the text is empty; fill it in or remove the row")
    if not isinstance(value, str):
        raise ValueError(f"the text is {type(value).__name__} {shown(value)}; it must be a string")
    return _encodable(value)


def label(value: object) -> int | None:
    """1, 0 or None, from the numbers or from a text that says them."""
    # 0.0 and 1.0 are what tables with blank labels are exported as.
    if isinstance(value, str):
        value = {"": None, "0": 0, "1": 1, "0.0": 0, "1.0": 1}.get(value.strip(), value)
    if value is None:
        return None
    if type(value) in (int, float) and value in (0, 1):  # not bool: True is no number here
        return int(value)
    raise ValueError(
        f"label {shown(value)} ({type(value).__name__}) is not 0 or 1; "
        "write 1 for a member, 0 for a non-member, nothing where it is unknown"
    )


def name(value: object) -> str:
    """A name, of a group for example, that is not blank; whole numbers become strings."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise ValueError("it is blank; fill it in, or remove the whole column")
    if isinstance(value, str) or type(value) is int:
        return _encodable(str(value))
    raise ValueError(f"{shown(value)} is {type(value).__name__}; it must be a string")


def optional(value: object) -> str | None:
    """A name, or None where there is none."""
    return None if value is None or value == "" else name(value)


def date(value: object) -> str | None:
    """A date in ISO 8601, or its year or month alone, or None where there is none."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    text = optional(value)
    if text is not None:
        text = text.strip()
        try:
            if not DATE.fullmatch(text):
                raise ValueError
            datetime.datetime.fromisoformat(text + "0000-01-01"[len(text) :])  # first day of
        except ValueError:
            raise ValueError(
                f"{shown(value)} is no date; write it as 1999, 1999-12 or 1999-12-31"
            ) from None
    return text


def flag(value: object) -> bool:
    """True or false; blank is false."""
    if isinstance(value, str):
        value = {"": None, "0": False, "1": True, "false": False, "true": True}.get(
            value.strip().lower(), value
        )
    if value is None or isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise ValueError(f"{shown(value)} is not true or false")


def table(rows: list[dict], optional: list[str]) -> pa.Table:
    """Rows of checked values as a table TEXTS, with those optional columns."""
    fields = [*TEXTS.required, *(field for field in TEXTS.optional if field.name in optional)]
    return pa.Table.from_pylist(
        [{field.name: row[field.name] for field in fields} for row in rows], pa.schema(fields)
    )
