"""Min-K%++: Min-K% on log-probs normalised by the model's own next-token distribution.

z_t = (log p(x_t) - mu_t) / sigma_t, with mu_t and sigma_t the mean and the standard deviation of
log p(v) over the vocabulary, weighted by p(v); the score is the mean of the k lowest z_t,
k = max(1, floor(ratio * n)). sigma is clamped (scripts.attacks.batch.SMALLEST_STD).
With a window the z-scores are first smoothed as in Gap-K%: the row "smoothing only" of its Table 5.
Source: Zhang et al. 2025 (arXiv 2404.02936), equation 3, and its released code.
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import SMALLEST_STD, Batch, Ragged


@lru_cache(maxsize=1)
def z_scores(batch: Batch) -> Ragged:
    """z_t of every token."""
    centred = batch["logprob"] - batch["mean_logprob"]
    return centred / np.maximum(batch["std_logprob"], SMALLEST_STD)


@lru_cache(maxsize=1)
def smoothed(batch: Batch, window: int) -> Ragged:
    """Moving averages of z_t; kept, so that all ratios of a window share one sort."""
    return z_scores(batch).moving_averages(window)


def score(batch: Batch, *, ratio: float, window: int = 1) -> np.ndarray:
    """Mean of the lowest z-scores, float64 [n]."""
    return smoothed(batch, window).lowest_means(ratio)
