"""Gap share: minus the share of a text's tokens with a gap to the favourite larger than tau.

-|{t : |g_t| > tau}| / n, with g_t as in Gap-K%, so in units of sigma_t.
Source: arXiv 2601.19936, Table 3, which prints the share of all tokens of a class.
"""

import numpy as np

from scripts.attacks.batch import Batch
from scripts.attacks.gap_k import gaps


def score(batch: Batch, *, tau: float) -> np.ndarray:
    """Minus the share of tokens, float64 [n]."""
    return -(np.abs(gaps(batch)) > tau).means()
