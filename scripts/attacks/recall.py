"""ReCaLL: the loss behind a prefix of non-members over the loss without it, L(x | P) / L(x).

L is the mean log-prob of the text's tokens; the prefix's own are in neither mean. Both means are
over the same tokens: behind a prefix the first token of the text has a log-prob too, and
`reading=released` has it in the mean of L(x | P), as the released code does.
Source: Xie et al. 2024 (arXiv 2406.15968); the common tokens as in EM-MIA (Kim et al. 2024, arXiv
2410.07582). Its shots come from evaluated texts there; here from rows aside (scripts.views.shots).
"""

import numpy as np

from scripts.attacks.batch import Batch, choose
from scripts.attacks.views import aligned, ratio


def score(batch: Batch, *, reading: str = "paper") -> np.ndarray:
    """Ratio of losses of each text, float64 [n]."""
    choose(reading=(reading, ("paper", "released")))
    (view,) = batch.views.values()
    tokens = aligned(batch, view)
    behind = tokens.other if reading == "paper" else tokens.more
    return ratio(behind.means(), tokens.own.means())
