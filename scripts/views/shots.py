"""Shots: texts to be read behind a prefix, for ReCaLL and CON-ReCaLL.

The prefix is `shots` rows aside of one label, drawn once for the whole dataset and joined with
nothing in between, as in ReCaLL's released code. Rows aside are never evaluated, so no text is read
behind itself. The pass drops whole shots from the front where prefix and text exceed a model's
context; `words` cuts each shot to its first words, for models with a short one.
"""

import re

import numpy as np
import pyarrow as pa

from scripts.errors import UserError
from scripts.seeds import generator


def rewrite(
    texts: pa.Table,
    aside: pa.Table,
    *,
    seed: int,
    shots: int,
    label: int,
    words: int | None = None,
) -> pa.Table:
    """Every text as it is, with the same `prefix`."""
    kind = {0: "non-members", 1: "members"}[label]
    rows = np.flatnonzero(aside["label"].to_numpy() == label)
    if len(rows) < shots:
        raise UserError(
            f"a prefix of {shots} {kind} wants as many rows aside with label {label}, the dataset "
            f"has {len(rows)}; add such rows (column `aside`, or the key `aside` of its entry), or "
            "leave the attacks out that read it"
        )
    drawn = generator(seed, "shots").choice(rows, size=shots, replace=False)
    prefix = [aside["text"][int(row)].as_py() for row in drawn]
    if words is not None:
        prefix = [first_words(shot, words) for shot in prefix]
    column = pa.array([prefix] * len(texts), pa.list_(pa.string()))
    return texts.append_column("prefix", column)


def first_words(text: str, words: int) -> str:
    """`text` up to the end of its word number `words`."""
    return re.match(rf"\s*(?:\S+\s+){{0,{words - 1}}}\S*", text).group()
