"""A training order, drawn before any training: ``results/orders/{order}.parquet``."""

import pyarrow as pa

from scripts.contracts.table import Contract

ORDER = Contract(
    kind="order",
    required=pa.schema(
        [
            pa.field("step", pa.int32(), nullable=False),
            pa.field("slot", pa.int32(), nullable=False),  # position in the batch of this step
            pa.field("row", pa.int32(), nullable=False),  # window of the corpus
            pa.field("exposures", pa.int32(), nullable=False),  # times trained; 0 after the end
        ]
    ),
    key=("step", "slot"),
)
