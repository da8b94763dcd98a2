"""Token statistics of one (model, dataset, view): ``results/tokens/{model}/{dataset}/…``."""

import pyarrow as pa

from scripts.contracts.table import Contract

MOMENTS = ("vocab_mean_logprob", "vocab_std_logprob")
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
        ]
    ),
    optional=pa.schema(
        [
            # Of every model that is read here; an endpoint may tell the first, never the others.
            pa.field("top_logprob", _floats, nullable=False),  # max_v log p(v), nats
            pa.field("mean_logprob", _floats, nullable=False),  # sum_v p log p, nats
            pa.field("std_logprob", _floats, nullable=False),  # p-weighted population std, nats
            pa.field("rank", _ints, nullable=False),  # vocabulary entries with a larger logit
            # In a pass that was asked for them: moments of log p that weight every v alike, nats.
            pa.field("vocab_mean_logprob", _floats, nullable=False),  # mean_v log p(v)
            pa.field("vocab_std_logprob", _floats, nullable=False),  # Bessel-corrected std
        ]
    ),
    key=("text_id", "variant"),
    aligned=("token_id", "start", "end", "logprob"),
)
