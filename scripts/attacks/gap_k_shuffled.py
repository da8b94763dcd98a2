"""Gap-K% after the tokens of a text were shuffled: what smoothing gains without the order.

g_t as in Gap-K%, in an order drawn for each text, then smoothed and averaged as there.
Source: arXiv 2601.19936, Table 4.
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import Batch, Ragged
from scripts.attacks.gap_k import gaps
from scripts.seeds import generator


@lru_cache(maxsize=1)
def smoothed(batch: Batch, window: int) -> Ragged:
    """Moving averages of the shuffled g_t; kept, so that all ratios of a window share them."""
    return shuffled(batch).moving_averages(window)


@lru_cache(maxsize=1)
def shuffled(batch: Batch) -> Ragged:
    """g_t of every token, each text in an order of its own; the same for every window."""
    gap = gaps(batch)
    values = gap.values.copy()
    for i, text_id in enumerate(batch.text_ids):
        row = values[gap.offsets[i] : gap.offsets[i + 1]]
        generator(batch.seed, "gap_k_shuffled", text_id).shuffle(row)
    return Ragged(values, gap.offsets)


def score(batch: Batch, *, window: int, ratio: float) -> np.ndarray:
    """Mean of the lowest smoothed gaps, float64 [n]."""
    return smoothed(batch, window).lowest_means(ratio)
