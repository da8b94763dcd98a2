"""Student's t for small numbers of groups, the normal distribution (infinite degrees) otherwise.

The normal one comes from the standard library: most jobs never need scipy, whose import would be
a third of their time.
"""

from math import erfc, isinf, sqrt
from statistics import NormalDist


def quantile(degrees: float, probability: float) -> float:
    """The quantile of t with `degrees` of freedom (inf: normal)."""
    if isinf(degrees):
        return NormalDist().inv_cdf(probability)
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def two_sided(degrees: float, statistic: float) -> float:
    """P(|t| >= |statistic|), precise in the far tail too."""
    if isinf(degrees):
        return erfc(abs(statistic) / sqrt(2))
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(statistic)))


def upper(degrees: float, statistic: float) -> float:
    """P(t >= statistic), precise in the far tail too."""
    if isinf(degrees):
        return erfc(statistic / sqrt(2)) / 2
    from scipy.special import stdtr

    return float(stdtr(degrees, -statistic))
