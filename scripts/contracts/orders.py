"""A training order, drawn before any training: ``results/orders/{order}.parquet``.

Each window of the corpus stands here, once for each time that it is trained, or once after the
end. Steps count from 0: a checkpoint at step N has seen exactly the rows with ``step < N``. The
training ends where the rows with exposures end; those behind it are never trained. This holds for
the orders of control models too: what an OUT model or a twin saw stands in its own file.
"""

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
