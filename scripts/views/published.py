"""Published: the rewritings that a dataset's authors made, such as MIMIR's 25 neighbours of a text.

The dataset's entry says where they are (`rewritings`), in files of one of two kinds: a row for each
row of the dataset's own files, in their order, that holds a list of texts; or a row for each
rewriting, as many for each text, those of the first text first.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from scripts.errors import UserError
from scripts.sources.hub import numbered
from scripts.sources.published_files import value
from scripts.views.tables import several


def rewrite(
    texts: pa.Table,
    aside: pa.Table,
    *,
    seed: int,
    path: str,
    files: Sequence[Mapping],
    columns: Mapping[str, str],
) -> pa.Table:
    """The rewritings of each text in `files` beside the manifest `path`; `seed` is not used.

    Raises UserError where they are not those of the dataset's texts.
    """
    manifest = Path(path)
    about = json.loads(manifest.read_bytes())
    where = f"{about['id']}@{about['commit'][:12]}"
    lists: dict[str, list[str]] = {}
    rows: list[tuple[str, object]] = []
    for _, name, place, row in numbered(manifest.parent, about["files"], files, where):
        found = value(row, columns.get("text", "text"), place)
        if isinstance(found, list):
            lists[name] = found
        else:
            label = value(row, columns["label"], place) if "label" in columns else None
            rows.append((found, label))
    if rows:
        lists = _blocks(rows, texts, aside, where)
    names = texts["text_id"].to_pylist()
    missing = [name for name in names if name not in lists]
    if missing:
        raise UserError(
            f"{where}: no rewritings for {len(missing)} of {len(names)} texts, the first of them "
            f"'{missing[0]}'; its files must have a row for each row of the dataset's"
        )
    return several(texts, [lists[name] for name in names])


def _blocks(
    rows: list[tuple[str, object]], texts: pa.Table, aside: pa.Table, where: str
) -> dict[str, list[str]]:
    """The rewritings of each row of the dataset: a block of `rows`, with its label if they have
    any.
    """
    labels = {
        name: label
        for part in (texts, aside)
        for name, label in zip(part["text_id"].to_pylist(), part["label"].to_pylist(), strict=True)
    }
    size, rest = divmod(len(rows), len(labels))
    names = [f"1.{number}" for number in range(1, len(labels) + 1)]
    if rest or not size or set(names) != set(labels):
        raise UserError(
            f"{where}: {len(rows)} rewritings cannot be given out to {len(labels)} texts; blocks "
            "need every row of a dataset of one file, and as many for each"
        )
    blocks = {name: rows[i * size : (i + 1) * size] for i, name in enumerate(names)}
    for name, block in blocks.items():
        if any(label not in (None, labels[name]) for _, label in block):
            raise UserError(
                f"{where}: the rewritings of text '{name}' have another label than it; they are "
                "not those of this dataset"
            )
    return {name: [text for text, _ in block] for name, block in blocks.items()}
