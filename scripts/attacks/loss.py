"""Loss: the mean log-prob of a text's tokens, L(x) = mean_t log p(x_t | x_<t).

Source: Yeom et al. 2018 (arXiv 1709.01604); perplexity, exp(-L), ranks texts the same way.
"""

import numpy as np

from scripts.attacks.batch import Batch


def score(batch: Batch) -> np.ndarray:
    """Mean log-prob of each text in nats, float64 [n]."""
    return batch["logprob"].means()
