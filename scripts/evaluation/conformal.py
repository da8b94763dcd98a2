"""Thresholds and p-values from known non-members, without any member.

Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World (2005): a non-member that is
exchangeable with n known ones ranks anywhere among them with equal probability, so its p-value is
at most x with probability at most x, whatever the scores are.
"""

import math
from fractions import Fraction

import numpy as np


def needed(fpr: float) -> int:
    """The fewest known non-members with which a p-value can reach `fpr`: 1 / (n + 1) <= fpr."""
    return math.ceil(1 / Fraction(str(fpr))) - 1


def p_values(scores: np.ndarray, nonmembers: np.ndarray) -> np.ndarray:
    """(1 + known non-members that score at least as high) / (n + 1): float64, as `scores`."""
    ordered = np.sort(nonmembers)
    reached = len(ordered) - np.searchsorted(ordered, scores, "left")
    return (1 + reached) / (len(ordered) + 1)


def threshold(nonmembers: np.ndarray, fpr: float) -> float | None:
    """gamma: a text is called a member where its score > gamma; that is, where p <= `fpr`.

    The k-th highest known non-member, k = floor(fpr * (n + 1)). None where there are so few that
    no p-value reaches `fpr`: then nothing can be called a member.
    """
    count = len(nonmembers)
    highest = int(np.floor(fpr * (count + 1))) + 1
    # The division is what p_values does: the product alone may fall on the wrong side.
    while highest > 0 and highest / (count + 1) > fpr:
        highest -= 1
    return float(np.sort(nonmembers)[-highest]) if highest else None
