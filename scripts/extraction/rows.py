"""Statistics by token as rows of the contract TOKENS."""

import numpy as np
import pyarrow as pa

from scripts.contracts.tokens import MOMENTS, STATISTICS, TOKENS
from scripts.extraction.encoding import Encoded


def token_rows(
    texts: pa.Table, encoded: Encoded, statistics: np.ndarray, variant: int | None
) -> pa.Table:
    """One row per text with its scored tokens: all but the first, which nothing predicts.

    `statistics` [1 to 7, tokens] are the first of the contract's, by flat position in `encoded`.
    `variant` None: those of the texts, where they have any.
    """
    lengths = np.diff(encoded.bounds)
    scored = np.ones(len(encoded.ids), bool)
    scored[encoded.bounds[:-1][lengths > 0]] = False
    bounds = np.concatenate([[0], np.cumsum(np.maximum(lengths - 1, 0))]).astype(np.int32)
    columns = {
        "token_id": encoded.ids.astype(np.int32),
        "start": encoded.start,
        "end": encoded.end,
        **dict(zip((*STATISTICS, *MOMENTS), statistics, strict=False)),
    }
    lists = {
        name: pa.ListArray.from_arrays(
            bounds, pa.array(values[scored].astype(np.int32 if name == "rank" else values.dtype))
        )
        for name, values in columns.items()
    }
    if variant is None and "variant" in texts.column_names:
        variants = texts["variant"]
    else:
        variants = pa.array(np.full(len(texts), variant or 0, np.int32))
    table = pa.table({"text_id": texts["text_id"], "variant": variants, **lists})
    return table.select([name for name in TOKENS.names if name in table.column_names])
