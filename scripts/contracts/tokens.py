"""Token statistics of one (model, dataset, view): ``results/tokens/{model}/{dataset}/…``."""

import pyarrow as pa

from scripts.contracts.table import Contract

STATISTICS = ("logprob", "top_logprob", "mean_logprob", "std_logprob", "rank")

_floats = pa.list_(pa.float32())
_ints = pa.list_(pa.int32())

TOKENS = Contract(
    kind="tokens",
    required=pa.schema(
        [
            pa.field("text_id", pa.string(), nullable=False),
            pa.field("variant", pa.int32(), nullable=False),
            # One entry per scored token, i.e. per token with a prediction.
            pa.field("token_id", _ints, nullable=False),
            pa.field("start", _ints, nullable=False),  # character offsets in the text
            pa.field("end", _ints, nullable=False),
            pa.field("logprob", _floats, nullable=False),  # log p(x_t | x_<t), nats
            pa.field("top_logprob", _floats, nullable=False),  # max_v log p(v), nats
            pa.field("mean_logprob", _floats, nullable=False),  # sum_v p log p, nats
            pa.field("std_logprob", _floats, nullable=False),  # p-weighted population std, nats
            pa.field("rank", _ints, nullable=False),  # vocabulary entries with a larger logit
        ]
    ),
    key=("text_id", "variant"),
    aligned=("token_id", "start", "end", *STATISTICS),
)
