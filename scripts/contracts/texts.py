"""Texts with their labels: ``results/texts/{dataset}/{view}.parquet``, ``results/aside/…``."""

import pyarrow as pa

from scripts.contracts.table import Contract

TEXTS = Contract(
    kind="texts",
    required=pa.schema(
        [
            pa.field("text_id", pa.string(), nullable=False),
            pa.field("text", pa.string(), nullable=False),
            pa.field("label", pa.int8()),  # 1 member, 0 non-member, null unknown
            pa.field("group", pa.string(), nullable=False),  # the book, page or speech it is from
        ]
    ),
    optional=pa.schema(
        [
            pa.field("domain", pa.string()),
            pa.field("date", pa.string()),  # ISO 8601
            pa.field("step", pa.int32()),  # training step that last saw (or will see) the text
            pa.field("exposures", pa.int32()),  # times seen before the end of training
            pa.field("token_ids", pa.list_(pa.int32())),  # the exact training sequence
            pa.field("variant", pa.int32(), nullable=False),  # views with several texts per text
            pa.field("prefix", pa.list_(pa.string()), nullable=False),  # shots to be read before it
        ]
    ),
    key=("text_id", "variant"),
)
