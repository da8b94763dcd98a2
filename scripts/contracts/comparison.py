"""Pairs of settings on the same texts:
``results/comparisons/{model}/{dataset}/{comparison}.parquet``."""

import pyarrow as pa

from scripts.contracts.table import Contract

_s, _f = pa.string(), pa.float64()

COMPARISON = Contract(
    kind="comparison",
    required=pa.schema(
        [
            pa.field("model", _s, nullable=False),
            pa.field("dataset", _s, nullable=False),
            pa.field("setting", _s, nullable=False),
            pa.field("against", _s, nullable=False),
            pa.field("auc", _f, nullable=False),
            pa.field("auc_against", _f, nullable=False),
            pa.field("difference", _f, nullable=False),
            pa.field("difference_se", _f, nullable=False),  # cluster DeLong
            pa.field("difference_low", _f, nullable=False),  # 95 %, of this pair alone
            pa.field("difference_high", _f, nullable=False),
            pa.field("p", _f, nullable=False),  # two-sided, not adjusted
            pa.field("p_adjusted", _f, nullable=False),  # over all pairs of the file
            pa.field("correction", _s, nullable=False),  # holm or max_t
        ]
    ),
    key=("setting", "against"),
)
