"""The order of rows in a file of token statistics."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def in_order(table: pa.Table, text_ids: Sequence[str]) -> pa.Table:
    """`table` (contract TOKENS) in the order of `text_ids`, the variants of a text together."""
    place = {text_id: row for row, text_id in reversed(list(enumerate(text_ids)))}
    rows = np.asarray([place[text_id] for text_id in table["text_id"].to_pylist()], np.int64)
    return table.take(np.lexsort((table["variant"].to_numpy(), rows)))
