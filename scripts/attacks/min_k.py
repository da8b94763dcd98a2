"""Min-K%: the mean of the k lowest log-probs of a text, k = max(1, floor(ratio * n)).

With a window w the log-probs are first averaged over w tokens in a row (n - w + 1 of them), as
MIMIR's code (Duan et al. 2024, arXiv 2402.07841) offers.
Source: Shi et al. 2024 (arXiv 2310.16789), log-probs as in its released code. That code, and after
it those of Min-K%++, MIMIR, ReCaLL, DC-PDD, Tag&Tab, CheckMIABench and SoK, have no lower bound on
k: `reading=released` is k = int(ratio * n). Where that is 0 they give NaN; here the text takes the
mean of all its tokens (Loss), and is counted.
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import Batch, Ragged, Scored, choose, released_count


@lru_cache(maxsize=1)
def smoothed(batch: Batch, window: int) -> Ragged:
    """Moving averages of the log-probs; kept, so that all ratios of a window share one sort."""
    return batch["logprob"].moving_averages(window)


def score(
    batch: Batch, *, ratio: float, window: int = 1, reading: str = "paper"
) -> np.ndarray | Scored:
    """Mean of the lowest log-probs in nats, float64 [n]."""
    choose(reading=(reading, ("paper", "released")))
    values = smoothed(batch, window)
    if reading == "paper":
        return values.lowest_means(ratio)
    k, none = released_count(ratio, values.lengths)
    return Scored(values.means_of_lowest(k), none)
