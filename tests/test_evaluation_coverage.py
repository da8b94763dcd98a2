"""Coverage of the 95 % intervals of an AUC, by simulation: 93 to 97 % is asked."""

import numpy as np
import pytest
from scipy.stats import norm

from scripts.evaluation.delong import auc_errors, interval
from scripts.evaluation.sample import make_sample


def covered(scores, sample, truth):
    """The AUC of `scores` and whether its interval holds `truth`."""
    [auc], [error] = auc_errors(scores[None], sample)
    low, high = interval(auc, error, sample)
    return auc, low <= truth <= high


def test_label_permutations_cover_one_half():
    rng = np.random.default_rng(0)
    sample = make_sample(np.arange(2000) < 1000, np.arange(2000), "d")
    scores = rng.normal(size=2000).round(2)
    found = np.array([covered(rng.permutation(scores), sample, 0.5) for _ in range(2000)])
    aucs, inside = found.T
    assert abs(aucs.mean() - 0.5) < 4 * aucs.std() / np.sqrt(2000)
    # The variance of the Mann-Whitney statistic under the null: (n1 + n0 + 1) / (12 n1 n0).
    assert aucs.std() == pytest.approx(np.sqrt(2001 / 12) / 1000, rel=0.08)
    assert 0.93 < inside.mean() < 0.97


@pytest.mark.parametrize("truth", [0.6, 0.9])
@pytest.mark.parametrize(("books", "least"), [(84, 0.93), (20, 0.91)])
def test_nested_groups_are_covered(truth, books, least):
    # Books of 100 texts, half of them members; half of the variance is between books. Marginally
    # members are N(d, 1) and non-members N(0, 1), so that the AUC is Phi(d / sqrt 2). With ten books
    # a class and an AUC of 0.9 about 93 % are covered.
    rng = np.random.default_rng(1)
    groups = np.arange(books * 100) // 100
    sample = make_sample(groups < books // 2, groups, "d")
    alone = make_sample(sample.labels, np.arange(books * 100), "d")
    shift = np.sqrt(2) * norm.ppf(truth) * sample.labels
    inside, inside_alone = [], []
    for draw in range(1500):
        of_book = rng.normal(size=books, scale=np.sqrt(0.5))[groups]
        scores = shift + of_book + rng.normal(size=len(groups), scale=np.sqrt(0.5))
        inside.append(covered(scores, sample, truth)[1])
        if draw < 200:
            inside_alone.append(covered(scores, alone, truth)[1])
    assert least < np.mean(inside) < 0.97
    assert np.mean(inside_alone) < 0.5  # what ignoring the books would do


@pytest.mark.parametrize("shift", [0, 0.5, 1.5])
def test_crossed_groups_are_covered(shift):
    # 60 groups with ten members and ten non-members each, half of the variance between groups.
    # Of all pairs one in 60 is within a group, where the group's part cancels.
    rng = np.random.default_rng(2)
    groups = np.arange(1200) % 60
    sample = make_sample(np.arange(1200) < 600, groups, "d")
    truth = 59 / 60 * norm.cdf(shift / np.sqrt(2)) + 1 / 60 * norm.cdf(shift)
    inside = []
    for _ in range(1500):
        own = rng.normal(size=1200, scale=np.sqrt(0.5))
        scores = shift * sample.labels + rng.normal(size=60, scale=np.sqrt(0.5))[groups] + own
        inside.append(covered(scores, sample, truth)[1])
    assert 0.93 < np.mean(inside) < 0.97
