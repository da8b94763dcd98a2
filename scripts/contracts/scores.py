"""Scores: ``results/scores/{model}/{dataset}/{attack}.parquet``, ``results/blind/…``."""

import pyarrow as pa

from scripts.contracts.table import Contract

# A text without a scored token: below every score that an attack can reach, the same in each
# attack, so that all attacks are compared on the same texts. Files and tables count these.
UNSCORED = -1e9

SCORES = Contract(
    kind="scores",
    required=pa.schema([pa.field("text_id", pa.string(), nullable=False)]),
    others=pa.float64(),  # one column per setting, e.g. "min_k(ratio=0.2)"; higher = member
)
