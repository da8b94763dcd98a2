"""Tables of rewritten texts, with the names, labels and groups of those that they came from."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from scripts.errors import UserError


def replaced(texts: pa.Table, strings: Sequence[str]) -> pa.Table:
    """`texts` with another string each, to be tokenised anew."""
    if "token_ids" in texts.column_names:  # those of the text that was
        texts = texts.drop_columns(["token_ids"])
    return texts.set_column(
        texts.column_names.index("text"), "text", pa.array(strings, pa.string())
    )


def several(texts: pa.Table, strings: Sequence[Sequence[str]]) -> pa.Table:
    """None to many rows for each text, numbered by `variant` from 1."""
    counts = [len(own) for own in strings]
    rows = np.repeat(np.arange(len(texts)), counts)
    variants = [number for count in counts for number in range(1, count + 1)]
    table = replaced(texts.take(rows), [string for own in strings for string in own])
    return table.append_column("variant", pa.array(variants, pa.int32()))


def part(share: float, count: int) -> int:
    """max(1, floor(share * count)), the share taken as the decimal that was written."""
    exact = Fraction(str(share))
    if not 0 < exact <= 1:
        raise UserError(f"a share of {share}: it lies above 0 and is at most 1")
    return max(1, int(exact * count))
