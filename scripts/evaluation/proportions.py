"""The 95 % interval of a share of texts, wider where texts share a group.

Clopper and Pearson, Biometrika 26 (1934). Where texts share a group, with Korn and Graubard's
effective number of texts, Survey Methodology 24 (1998): texts that say the same count once.
"""

import numpy as np
from scipy.special import betaincinv

from scripts.evaluation.delong import LEVEL
from scripts.evaluation.student import quantile


def share_interval(hits: np.ndarray, groups: np.ndarray) -> tuple[float, float, float]:
    """The share of `hits` (bool [n], n > 0) and its 95 % interval; `groups` are names [n]."""
    share = float(hits.mean())
    low, high = clopper_pearson(share, effective_texts(hits, groups))
    return share, low, high


def effective_texts(hits: np.ndarray, groups: np.ndarray) -> float:
    """How many independent texts tell as much about the share of `hits` as these n do.

    share * (1 - share) over the share's cluster-robust variance, less what few groups cost in
    degrees of freedom; at most n. The number of groups where all texts are alike, which leaves no
    variance to go by.
    """
    texts = len(hits)
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    count = len(sizes)
    if count == texts:
        return float(texts)
    share = hits.mean()
    if count < 2 or share in (0, 1):
        return float(count)
    sums = np.bincount(codes, hits - share)
    variance = count / (count - 1) * (sums**2).sum() / texts**2
    if variance == 0:
        return float(texts)
    tail = (1 + LEVEL) / 2
    few = (quantile(texts - 1, tail) / quantile(count - 1, tail)) ** 2
    return float(min(texts, share * (1 - share) / variance * few))


def clopper_pearson(share: float, texts: float) -> tuple[float, float]:
    """The exact 95 % interval of a `share` of `texts`, which need not be a whole number."""
    tail = (1 - LEVEL) / 2
    hits = share * texts
    low = float(betaincinv(hits, texts - hits + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(hits + 1, texts - hits, 1 - tail)) if share < 1 else 1.0
    return low, high
