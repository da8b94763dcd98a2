"""Calls by a threshold from known non-members, a row per text and setting:
``results/calibration/{model}/{dataset}/{attack}.parquet``."""

import pyarrow as pa

from scripts.contracts.table import Contract

CALIBRATION = Contract(
    kind="calibration",
    required=pa.schema(
        [
            pa.field("text_id", pa.string(), nullable=False),
            pa.field("group", pa.string(), nullable=False),
            pa.field("label", pa.int8()),  # 1 member, 0 non-member, null unknown
            pa.field("setting", pa.string(), nullable=False),
            pa.field("score", pa.float64(), nullable=False),
            pa.field("judged", pa.bool_(), nullable=False),  # false: it calibrates
            # Of the judged: probability that a non-member scores as high; null for the others.
            pa.field("p_value", pa.float64()),
            pa.field("decision", pa.bool_()),  # score > threshold: called a member; null without
            pa.field("threshold", pa.float64()),  # null: too few non-members for this FPR
        ]
    ),
    key=("text_id", "setting"),
)
