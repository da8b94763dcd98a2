"""PAC: how much further apart likely and unlikely tokens are once words have been swapped.

The polarised distance D(x) is the mean of the `high` largest log-probs minus the mean of the `low`
smallest, k = max(1, floor(ratio * n)) of each; the score is mean_j D(x_j) - D(x) over copies x_j of
the text with swapped words (the view `swaps`). A text without copies (one word) scores 0, and is
counted.
Source: Ye et al. 2024 (arXiv 2405.11930), with the shares and the sign of its released code.
"""

import numpy as np

from scripts.attacks.batch import Batch, Ragged, Scored
from scripts.attacks.views import difference


def distance(logprob: Ragged, low: float, high: float) -> np.ndarray:
    """The polarised distance of each row in nats, float64 [rows]."""
    return logprob.highest_means(high) - logprob.lowest_means(low)


def score(batch: Batch, *, low: float = 0.3, high: float = 0.05) -> Scored:
    """Growth of the polarised distance in nats, float64 [n], and which texts have no copy."""
    (view,) = batch.views.values()
    shrunk = difference(
        distance(batch["logprob"], low, high), distance(view["logprob"], low, high), view.text
    )
    return Scored(-shrunk.scores, shrunk.fallback)
