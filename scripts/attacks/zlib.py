"""Zlib: the mean log-prob over the compressed size, L(x) / len(zlib(x)).

The size is in bytes: UTF-8, zlib's default level. Source: Carlini et al. 2021 (arXiv 2012.07805),
in the form of Min-K%'s and Min-K%++'s released code (the mean, not the sum, of the log-probs).
The released code of CheckMIABench has two other forms: `length`, len(zlib(x)) alone, for which no
model is needed, and `sum`, L(x) - len(zlib(x)), which the length dominates; signs as in that code.
"""

import zlib
from functools import lru_cache

import numpy as np

from scripts.attacks.batch import Batch
from scripts.errors import UserError


@lru_cache(maxsize=1)
def sizes(batch: Batch) -> np.ndarray:
    """Compressed bytes of each text, float64 [n]."""
    return np.array([len(zlib.compress(text.encode())) for text in batch.texts], dtype=np.float64)


def score(batch: Batch, *, form: str = "ratio") -> np.ndarray:
    """Mean log-prob in nats per compressed byte, or another `form`, float64 [n]."""
    match form:
        case "ratio":
            return batch["logprob"].means() / sizes(batch)
        case "sum":
            return batch["logprob"].means() - sizes(batch)
        case "length":
            return sizes(batch).copy()
    raise UserError(f"form={form}: valid are ratio, sum and length")
