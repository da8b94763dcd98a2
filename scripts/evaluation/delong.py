"""Standard errors, intervals and tests of AUCs: DeLong, clustered where texts share a group.

DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988); for groups Obuchowski, Biometrics 53
(1997): the placements of a group's texts are added up first, since they are not independent. With
each text its own group it is DeLong's estimate.
"""

from math import exp

import numpy as np

from scripts.evaluation.roc import doubled_wins
from scripts.evaluation.sample import Sample
from scripts.evaluation.student import quantile, two_sided

LEVEL = 0.95


def influences(scores: np.ndarray, sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """AUCs [S] of `scores` [S, n], and what the groups' members and non-members add: [S, G] each.

    A text adds the share of the other class that it wins against, less the AUC, over the number of
    texts of its class. The AUC is a ratio of integers: exactly 1 if and only if nothing overlaps.
    """
    aucs = np.empty(len(scores))
    parts = np.zeros((2, len(scores), sample.group_count))
    classes = (sample.groups[sample.labels], sample.groups[~sample.labels])
    pairs = sample.members * sample.nonmembers
    for index, row in enumerate(scores):
        wins = doubled_wins(row, sample.labels)
        aucs[index] = wins[0].sum() / (2 * pairs)
        for part, codes, won in zip(parts, classes, wins, strict=True):
            added = (won - won.mean()) / (2 * pairs)
            part[index] = np.bincount(codes, added, sample.group_count)
    return aucs, parts[0], parts[1]


def covariance(members: np.ndarray, nonmembers: np.ndarray, sample: Sample) -> np.ndarray:
    """Obuchowski's covariance [S, S] from `influences`' parts, or from differences of them.

    Positive semi-definite: the factor of the cross terms is the smallest of the three.
    """
    cross = members @ nonmembers.T
    return (
        _factor(sample.member_groups) * (members @ members.T)
        + _factor(sample.nonmember_groups) * (nonmembers @ nonmembers.T)
        + _factor(sample.group_count) * (cross + cross.T)
    )


def auc_errors(scores: np.ndarray, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """AUCs [S] of `scores` [S, n] and their standard errors [S]."""
    aucs, members, nonmembers = influences(scores, sample)
    return aucs, _errors(covariance(members, nonmembers, sample))


def paired(
    scores: np.ndarray, reference: np.ndarray, sample: Sample
) -> tuple[np.ndarray, np.ndarray]:
    """AUC of each of `scores` [S, n] less that of `reference` [n], and its standard error: [S]."""
    aucs, members, nonmembers = influences(np.vstack([reference, scores]), sample)
    # Of the differences, not from the covariances: equal scores give exactly 0.
    between = covariance(members[1:] - members[0], nonmembers[1:] - nonmembers[0], sample)
    return aucs[1:] - aucs[0], _errors(between)


def interval(auc: float, error: float, sample: Sample) -> tuple[float, float]:
    """The 95 % interval of an AUC with its standard error, on the logit scale.

    At 0 or 1 there is no standard error, but a one-sided exact bound: with m pairs of texts that
    share no group, all m are in order with probability AUC ** m, so 0.05 ** (1 / m) is the
    smallest AUC that shows no overlap in 5 % of samples.
    """
    if auc in (0, 1):
        bound = (1 - LEVEL) ** (1 / sample.independent_pairs)
        return (bound, 1.0) if auc == 1 else (0.0, 1 - bound)
    reach = quantile(sample.degrees, (1 + LEVEL) / 2) * error / (auc * (1 - auc))
    odds, factor = auc / (1 - auc), exp(min(reach, 700))  # beyond that, exp overflows
    return 1 / (1 + factor / odds), 1 / (1 + 1 / (factor * odds))


def p_value(difference: float, error: float, sample: Sample) -> float:
    """Two-sided p-value of a difference (of an AUC from 0.5, or of two AUCs).

    Without a standard error (no overlap, or all groups alike) it is 1 for no difference, else the
    smallest that m independent pairs can give: 2 * 0.5 ** m.
    """
    if error == 0:
        return 1.0 if difference == 0 else 2 * 0.5**sample.independent_pairs
    return two_sided(sample.degrees, difference / error)


def _errors(variances: np.ndarray) -> np.ndarray:
    errors = np.sqrt(np.diag(variances))
    errors[errors < 1e-12] = 0  # rounding: one pair out of order in 10 ** 12 gives as much
    return errors


def _factor(groups: int) -> float:
    return groups / (groups - 1)
