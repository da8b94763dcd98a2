"""Tests of whether a set of texts was trained on:
``results/inferences/{model}/{dataset}/{inference}.parquet``.

Rows with split -1 test the suspect set (label 1) against the held-out set (label 0) with more and
more texts. The others test random halves of the held-out set against each other, where nothing is
to be found: the test's own false-positive run.
"""

import pyarrow as pa

from scripts.contracts.table import Contract

SUSPECT = -1

_i, _f = pa.int32(), pa.float64()

INFERENCE = Contract(
    kind="inference",
    required=pa.schema(
        [
            pa.field("split", _i, nullable=False),
            pa.field("suspects", _i, nullable=False),  # texts tested, of label 1
            pa.field("held_out", _i, nullable=False),
            # Of the combined score; null where fewer than two groups of a class are tested.
            pa.field("difference", _f),
            pa.field("se", _f),
            pa.field("degrees", _f),
            pa.field("p", _f),  # one-sided: suspects score higher
        ]
    ),
    key=("split", "suspects", "held_out"),
)
