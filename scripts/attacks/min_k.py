"""Min-K%: the mean of the k lowest log-probs of a text, k = max(1, floor(ratio * n)).

With a window w the log-probs are first averaged over w tokens in a row (n - w + 1 of them), as
MIMIR's code (Duan et al. 2024, arXiv 2402.07841) offers.
Source: Shi et al. 2024 (arXiv 2310.16789), log-probs as in its released code; the code has no
lower bound on k and returns NaN for short texts.
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import Batch, Ragged


@lru_cache(maxsize=1)
def smoothed(batch: Batch, window: int) -> Ragged:
    """Moving averages of the log-probs; kept, so that all ratios of a window share one sort."""
    return batch["logprob"].moving_averages(window)


def score(batch: Batch, *, ratio: float, window: int = 1) -> np.ndarray:
    """Mean of the lowest log-probs in nats, float64 [n]."""
    return smoothed(batch, window).lowest_means(ratio)
