"""CON-ReCaLL: ReCaLL behind non-members against ReCaLL behind members.

(L(x | N) - gamma * L(x | M)) / L(x), L the mean log-prob over the tokens that all passes score, N a
prefix of non-members and M one of members: the first and the second view of the registry entry.
Both prefixes are rows aside, so known members are needed that are not evaluated.
Source: Wang et al. 2024 (arXiv 2409.03363).
"""

import numpy as np

from scripts.attacks.batch import Batch
from scripts.attacks.views import aligned, ratio


def score(batch: Batch, *, gamma: float) -> np.ndarray:
    """Difference of two ratios of losses of each text, float64 [n]."""
    nonmembers, members = (aligned(batch, view) for view in batch.views.values())
    behind, beside = (
        ratio(tokens.other.means(), tokens.own.means()) for tokens in (nonmembers, members)
    )
    return behind - gamma * beside
