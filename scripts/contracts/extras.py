"""Further files that some attacks read: token counts, gradient norms, sampled continuations."""

import pyarrow as pa

from scripts.contracts.table import Contract

# ``results/counts/{model}/{dataset}.parquet``: how often each token stands in the rows aside.
# Tokens that never do are left out; the provenance says how large the vocabulary is.
COUNTS = Contract(
    kind="counts",
    required=pa.schema(
        [
            pa.field("token_id", pa.int32(), nullable=False),
            pa.field("count", pa.int64(), nullable=False),
        ]
    ),
    key=("token_id",),
)

# ``results/gradients/{model}/{dataset}.parquet``: norms of the gradient of a text's mean loss.
GRADIENTS = Contract(
    kind="gradients",
    required=pa.schema(
        [
            pa.field("text_id", pa.string(), nullable=False),
            pa.field("norm_1", pa.float64(), nullable=False),
            pa.field("norm_2", pa.float64(), nullable=False),
            pa.field("norm_inf", pa.float64(), nullable=False),
        ]
    ),
)

# ``results/generations/{model}/{dataset}.parquet``: a text's second part, and what the model wrote
# in its place behind the first part.
GENERATIONS = Contract(
    kind="generations",
    required=pa.schema(
        [
            pa.field("text_id", pa.string(), nullable=False),
            pa.field("target", pa.string(), nullable=False),
            pa.field("samples", pa.list_(pa.string()), nullable=False),
        ]
    ),
)
