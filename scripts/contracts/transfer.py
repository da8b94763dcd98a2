"""A classifier of scores, learned on one domain and judged on another, for all pairs:
``results/transfers/{model}/{transfer}.parquet``."""

import pyarrow as pa

from scripts.contracts.table import Contract

_s, _i, _f = pa.string(), pa.int32(), pa.float64()

TRANSFER = Contract(
    kind="transfer",
    required=pa.schema(
        [
            pa.field("model", _s, nullable=False),
            pa.field("learned_on", _s, nullable=False),  # a dataset, or a domain of one
            pa.field("judged_on", _s, nullable=False),
            # Whether the two share groups (on the diagonal: all), so that it was done by folds.
            pa.field("out_of_fold", pa.bool_(), nullable=False),
            pa.field("learned_from", _i, nullable=False),  # texts; the most of any fold
            pa.field("members", _i, nullable=False),  # judged
            pa.field("nonmembers", _i, nullable=False),
            pa.field("auc", _f, nullable=False),
            pa.field("auc_se", _f, nullable=False),
            pa.field("auc_low", _f, nullable=False),
            pa.field("auc_high", _f, nullable=False),
        ]
    ),
    key=("learned_on", "judged_on"),
)
