"""Max-K%: the mean of the k highest log-probs of a text, k = max(1, floor(ratio * n)).

Source: a baseline of Tag&Tab (Antebi et al. 2025); Maini et al. 2024 (arXiv 2406.06443) use it as a
feature. Tag&Tab's code has no lower bound on k: `reading=released` is k = int(ratio * n). Where
that is 0 its slice is the whole text, so the text takes its mean (Loss); it is counted.
"""

import numpy as np

from scripts.attacks.batch import Batch, Scored, choose, released_count


def score(batch: Batch, *, ratio: float, reading: str = "paper") -> np.ndarray | Scored:
    """Mean of the highest log-probs in nats, float64 [n]."""
    choose(reading=(reading, ("paper", "released")))
    values = batch["logprob"]
    if reading == "paper":
        return values.highest_means(ratio)
    k, none = released_count(ratio, values.lengths)
    return Scored(values.means_of_highest(k), none)
