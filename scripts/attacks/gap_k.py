"""Gap-K%: how far the model's favourite was ahead of the true token, where it was furthest.

g_t = (log p(x_t) - max_v log p(v)) / sigma_t <= 0, with sigma_t as in Min-K%++ and clamped the same
(scripts.attacks.batch.SMALLEST_STD); smoothed by a moving average over `window` tokens (only whole
windows; a text shorter than the window is not smoothed); the score is the mean of the k lowest of
the m smoothed values, k = max(1, floor(ratio * m)).
Source: arXiv 2601.19936, section 3.3, and its released code. The paper takes ratio 0.2 and window 6
for LLaMA, 3 for other models. In Min-K%++'s terms g_t = z_t - (max_v log p(v) - mu_t) / sigma_t.
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import SMALLEST_STD, Batch, Ragged


@lru_cache(maxsize=1)
def gaps(batch: Batch) -> Ragged:
    """g_t of every token."""
    gap = batch["logprob"] - batch["top_logprob"]
    return gap / np.maximum(batch["std_logprob"], SMALLEST_STD)


@lru_cache(maxsize=1)
def smoothed(batch: Batch, window: int) -> Ragged:
    """Moving averages of g_t; kept, so that all ratios of a window share one sort."""
    return gaps(batch).moving_averages(window)


def score(batch: Batch, *, window: int, ratio: float) -> np.ndarray:
    """Mean of the lowest smoothed gaps, float64 [n]."""
    return smoothed(batch, window).lowest_means(ratio)
