"""One-sided test that one class scores higher on average, with texts that share groups.

Welch, Biometrika 34 (1947), where each text is its own group. Otherwise the variance of a mean is
cluster-robust: deviations are added up within a group first. Groups in one class leave Welch's
degrees of freedom, counted in groups; where groups span both classes the difference is what each
group adds to it, with G - 2 degrees.
"""

from typing import NamedTuple

import numpy as np

from scripts.evaluation.student import upper


class Difference(NamedTuple):
    """A difference of means (label 1 less label 0), its standard error, degrees and p-value."""

    difference: float
    error: float
    degrees: float
    p: float


def one_sided(scores: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> Difference | None:
    """Test `scores` [n] of `labels` (bool [n]) and `groups` (names [n]) for a positive difference.

    None where a class has fewer than two groups, or nothing varies: then nothing can be said.
    """
    _, codes = np.unique(groups, return_inverse=True)
    present = [np.unique(codes[labels == label]) for label in (True, False)]
    if min(map(len, present)) < 2:
        return None
    deviations = np.where(labels, scores - scores[labels].mean(), scores - scores[~labels].mean())
    parts = [
        np.bincount(codes[labels == label], deviations[labels == label], codes.max() + 1)
        / (labels == label).sum()
        for label in (True, False)
    ]
    if np.intersect1d(*present).size:
        count = codes.max() + 1
        variances = [count / (count - 1) * ((parts[0] - parts[1]) ** 2).sum()]
        degrees = count - 2
    else:
        counts = np.array([len(found) for found in present])
        variances = counts / (counts - 1) * np.array([(part**2).sum() for part in parts])
        spread = (variances**2 / (counts - 1)).sum()
        degrees = variances.sum() ** 2 / spread if spread > 0 else 0
    error = float(np.sqrt(np.sum(variances)))
    if error == 0 or degrees < 1:
        return None
    difference = float(scores[labels].mean() - scores[~labels].mean())
    return Difference(difference, error, float(degrees), upper(float(degrees), difference / error))
