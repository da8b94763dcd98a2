"""Given: rewritings from a file, such as published neighbours or paraphrases; one row for each.

Columns: `text`, the rewriting, and either `text_id`, or `original`, the text that it was made from.
`columns` says what they are called in the file. Rewritings of one text are numbered in the order of
the file; a text may have none. The file may be the one that the dataset itself was read from:

    paraphrases:
      module: given
      settings: {path: my.csv, columns: {text: paraphrase, original: text}}
"""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from scripts.errors import UserError
from scripts.sources.records import Records, read
from scripts.views.tables import several


def rewrite(
    texts: pa.Table,
    aside: pa.Table,
    *,
    seed: int,
    path: str,
    columns: Mapping[str, str] | None = None,
) -> pa.Table:
    """The rewritings of each text that the file has; `aside` and `seed` are not used.

    Raises UserError for a row of a text that the dataset does not have.
    """
    names = {name: name for name in ("text", "text_id", "original")} | dict(columns or {})
    records = read(Path(path), names, ["text"])
    key = "text_id" if "text_id" in records.rows[0] else "original"
    if key not in records.rows[0]:
        raise UserError(
            f"{path} has neither a column '{names['text_id']}' nor '{names['original']}', so it "
            "does not say which text a row was made from; add one of the two"
        )
    of = texts["text_id" if key == "text_id" else "text"].to_pylist()
    known = {str(row) for row in aside["text_id" if key == "text_id" else "text"].to_pylist()}
    rewritings: dict[str, list[str]] = {name: [] for name in of}
    for number, row in enumerate(records.rows):
        own = str(row[key])
        if own in rewritings:
            rewritings[own].append(_text(records, number, names["text"]))
        elif own not in known:
            raise UserError(
                f"{records.place(number)}, column '{names[key]}': the dataset has no text "
                f"'{own[:40]}'; remove the row, or mend the name"
            )
    return several(texts, [rewritings[name] for name in of])


def _text(records: Records, number: int, column: str) -> str:
    text = records.rows[number]["text"]
    if not isinstance(text, str) or not text.strip():
        raise UserError(
            f"{records.place(number)}, column '{column}': there is no text; fill it in or remove "
            "the row"
        )
    return text
