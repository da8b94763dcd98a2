"""Max-K%: the mean of the k highest log-probs of a text, k = max(1, floor(ratio * n)).

Source: a baseline of Tag&Tab (Antebi et al. 2025); Maini et al. 2024 (arXiv 2406.06443) use it as a
feature.
"""

import numpy as np

from scripts.attacks.batch import Batch


def score(batch: Batch, *, ratio: float) -> np.ndarray:
    """Mean of the highest log-probs in nats, float64 [n]."""
    return batch["logprob"].highest_means(ratio)
