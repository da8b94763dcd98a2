"""Min-K%++: Min-K% on log-probs normalised by the model's own next-token distribution.

z_t = (log p(x_t) - mu_t) / sigma_t, with mu_t and sigma_t the mean and the standard deviation of
log p(v) over the vocabulary, weighted by p(v); the score is the mean of the k lowest z_t,
k = max(1, floor(ratio * n)). sigma is clamped (scripts.attacks.batch.SMALLEST_STD).
With a window the z-scores are first smoothed as in Gap-K%: the row "smoothing only" of its Table 5.
Source: Zhang et al. 2025 (arXiv 2404.02936), equation 3, and its released code.

That code has no lower bound on k: `reading=released` is k = int(ratio * n), and where that is 0 the
text takes the mean of all its z_t (the code gives NaN), and is counted. The codes of CheckMIABench
and SoK (Meeus et al. 2025) are another attack: `moments=vocabulary` takes their mu_t and sigma_t,
the plain mean and the Bessel-corrected standard deviation of log p(v), every v weighted alike
(columns of the view `vocabulary`, a pass that writes them).
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import SMALLEST_STD, Batch, Ragged, Scored, choose, released_count

MOMENTS = ("model", "vocabulary")


@lru_cache(maxsize=1)
def z_scores(batch: Batch, moments: str = "model") -> Ragged:
    """z_t of every token, by the `moments` of the model's distribution or of its vocabulary."""
    if moments == "model":
        centred = batch["logprob"] - batch["mean_logprob"]
        return centred / np.maximum(batch["std_logprob"], SMALLEST_STD)
    view = batch.views["vocabulary"]
    if not np.array_equal(view.text, np.arange(len(batch))):
        raise ValueError("the view `vocabulary` does not hold every text once")
    centred = view["logprob"] - view["vocab_mean_logprob"]
    return centred / np.maximum(view["vocab_std_logprob"], SMALLEST_STD)


@lru_cache(maxsize=1)
def smoothed(batch: Batch, moments: str, window: int) -> Ragged:
    """Moving averages of z_t; kept, so that all ratios of a window share one sort."""
    return z_scores(batch, moments).moving_averages(window)


def score(
    batch: Batch,
    *,
    ratio: float,
    window: int = 1,
    moments: str = "model",
    reading: str = "paper",
) -> np.ndarray | Scored:
    """Mean of the lowest z-scores, float64 [n]."""
    choose(reading=(reading, ("paper", "released")), moments=(moments, MOMENTS))
    values = smoothed(batch, moments, window)
    if reading == "paper":
        return values.lowest_means(ratio)
    k, none = released_count(ratio, values.lengths)
    return Scored(values.means_of_lowest(k), none)
