"""Gradient norm: minus the p-norm of the gradient of a text's mean loss by all weights.

-||d/d theta (-1/n sum_t log p(x_t | x_<t))||_p, the weights as one vector: a model has come to rest
on what it has learned. Source: Wang et al. 2024, "Pandora's White-Box" (arXiv 2402.17012), and
MIMIR (Duan et al. 2024, arXiv 2402.07841), whose code averages the norms of single tensors and does
not negate them.
"""

import numpy as np

from scripts.attacks.batch import Batch, choose


def score(batch: Batch, *, p: int | str) -> np.ndarray:
    """Minus the norm, p = 1, 2 or inf, float64 [n]."""
    choose(p=(str(p), ("1", "2", "inf")))
    return -batch.gradients[f"norm_{p}"]
