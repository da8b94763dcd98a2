"""AUC, ROC, DeLong and cluster DeLong against scikit-learn and a naive O(n^2) implementation."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as sklearn_roc_curve

from scripts.errors import UserError
from scripts.evaluation import delong, roc
from scripts.evaluation.sample import make_sample

CASES = range(200)


def random_case(seed, settings=3):
    """Scores with many ties, labels, and groups that are single, nested or crossed by turns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    labels = np.arange(n) < rng.integers(8, n - 8)
    groups = [
        np.arange(n),
        rng.integers(0, 4, n) + np.where(labels, 4, 0),
        rng.integers(0, int(rng.integers(5, 12)), n),
    ][seed % 3]
    order = rng.permutation(n)
    labels, groups = labels[order], np.unique(groups[order], return_inverse=True)[1]
    effect = np.array([0.5, 0, 2])[:settings, None] * labels
    scores = rng.normal(size=(settings, n)) + effect + rng.normal(size=n)[groups]
    return np.round(scores, int(rng.integers(0, 3))), make_sample(labels, groups, "case")


def naive_covariance(scores, sample):
    """Obuchowski (1997), equations as printed, from the matrix of all pairs and sums by cluster."""
    labels, groups = sample.labels, sample.groups
    m, n = labels.sum(), (~labels).sum()
    v10, v01, thetas = [], [], []
    for row in scores:
        x, y = row[labels][:, None], row[~labels][None, :]
        psi = 1.0 * (x > y) + 0.5 * (x == y)
        v10.append(psi.mean(1))
        v01.append(psi.mean(0))
        thetas.append(psi.mean())
    clusters = sorted(set(groups))
    diseased = [c for c in clusters if (groups[labels] == c).any()]
    healthy = [c for c in clusters if (groups[~labels] == c).any()]

    def t10(s, c):
        own = groups[labels] == c
        return v10[s][own].sum() - own.sum() * thetas[s]

    def t01(s, c):
        own = groups[~labels] == c
        return v01[s][own].sum() - own.sum() * thetas[s]

    i10, i01, i = len(diseased), len(healthy), len(clusters)
    result = np.empty((len(scores), len(scores)))
    for a in range(len(scores)):
        for b in range(len(scores)):
            s10 = i10 / ((i10 - 1) * m) * sum(t10(a, c) * t10(b, c) for c in diseased)
            s01 = i01 / ((i01 - 1) * n) * sum(t01(a, c) * t01(b, c) for c in healthy)
            s11 = i / (i - 1) * sum(t10(a, c) * t01(b, c) + t10(b, c) * t01(a, c) for c in clusters)
            result[a, b] = s10 / m + s01 / n + s11 / (m * n)
    return np.array(thetas), result


@pytest.mark.parametrize("seed", CASES)
def test_auc_and_standard_errors(seed):
    scores, sample = random_case(seed)
    thetas, expected = naive_covariance(scores, sample)
    for row, theta in zip(scores, thetas, strict=True):
        assert roc.auc(row, sample.labels) == pytest.approx(theta, abs=1e-12)
        assert theta == pytest.approx(roc_auc_score(sample.labels, row), abs=1e-12)

    aucs, errors = delong.auc_errors(scores, sample)
    np.testing.assert_allclose(aucs, thetas, rtol=0, atol=1e-12)
    np.testing.assert_allclose(errors**2, np.diag(expected), rtol=0, atol=1e-12)
    _, members, nonmembers = delong.influences(scores, sample)
    np.testing.assert_allclose(
        delong.covariance(members, nonmembers, sample), expected, rtol=0, atol=1e-12
    )

    differences, errors = delong.paired(scores, scores[0], sample)
    np.testing.assert_allclose(differences, thetas - thetas[0], rtol=0, atol=1e-12)
    variance = np.diag(expected) + expected[0, 0] - 2 * expected[0]
    np.testing.assert_allclose(errors**2, variance, rtol=0, atol=1e-12)
    assert (differences[0], errors[0]) == (0, 0)


def test_one_text_a_group_is_plain_delong():
    # Sun and Xu (2014): the covariance of placements, by numpy.
    scores, sample = random_case(0)
    assert sample.grouping == "none"
    for row, error in zip(scores, delong.auc_errors(scores, sample)[1], strict=True):
        psi = np.heaviside(row[sample.labels][:, None] - row[~sample.labels], 0.5)
        v10, v01 = psi.mean(1), psi.mean(0)
        plain = v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01)
        assert error**2 == pytest.approx(plain, rel=1e-10)


@pytest.mark.parametrize("seed", CASES)
def test_roc_curve_and_tpr_at_fpr(seed):
    scores, sample = random_case(seed, 1)
    row, labels = scores[0], sample.labels
    fpr, tpr, thresholds = roc.roc_curve(row, labels)
    expected = sklearn_roc_curve(labels, row, drop_intermediate=False)
    for found, known in zip((fpr, tpr, thresholds), expected, strict=True):
        np.testing.assert_array_equal(found, known)
    for limit in (0.01, 0.05, 0.1, 0.5):
        # Every threshold on its own, the definition word for word.
        points = [
            ((row[labels] >= t).mean(), (row[~labels] >= t).mean()) for t in [np.inf, *set(row)]
        ]
        best = max(true for true, false in points if false <= limit)
        realised = min(false for true, false in points if true == best)
        assert roc.tpr_at_fpr(row, labels, limit) == (best, realised)


def test_tpr_at_fpr_does_not_split_ties():
    labels = np.array([1, 1, 1, 0, 0, 0, 0], bool)
    scores = np.array([3, 2, 1, 2, 1, 0, 0.0])
    # At a threshold of 2 one of four non-members is caught, so 0.24 allows the first member only.
    assert roc.tpr_at_fpr(scores, labels, 0.24) == (1 / 3, 0)
    assert roc.tpr_at_fpr(scores, labels, 0.25) == (2 / 3, 0.25)


def test_false_positives_allowed_is_the_largest_that_a_division_allows():
    totals = np.arange(1, 3000)
    # Just below 0.07 the product with 100 rounds up to 7, although 7 / 100 is above the limit.
    for limit in (0.001, 0.01, 0.05, 0.07, np.nextafter(0.07, 0), 0.1, 0.29, 0.57):
        allowed = roc.false_positives_allowed(limit, totals)
        assert (allowed / totals <= limit).all()
        assert ((allowed + 1) / totals > limit).all()


@pytest.mark.parametrize(
    ("nonmembers", "limit", "shown"),
    [
        (99, 0.05, "blank"),
        (100, 0.05, "grey"),
        (199, 0.05, "grey"),
        (200, 0.05, "full"),
        (499, 0.01, "blank"),
        (500, 0.01, "grey"),
        (1000, 0.01, "full"),
    ],
)
def test_tpr_cells_with_few_false_positives(nonmembers, limit, shown):
    assert roc.tpr_display(nonmembers, limit) == shown


def separate_sample(members, nonmembers, grouping="none"):
    labels = np.arange(members + nonmembers) < members
    groups = np.arange(members + nonmembers)
    if grouping == "crossed":
        groups = np.arange(members + nonmembers) % min(members, nonmembers)
    return make_sample(labels, groups, "d")


def test_intervals_lie_on_the_logit_scale():
    # By hand: logit(0.9) = ln 9, its standard error 0.02 / 0.09; z of 0.975 is 1.959964.
    reach = 1.959963984540054 * 0.02 / 0.09
    expected = [1 / (1 + math.exp(-(math.log(9) + sign * reach))) for sign in (-1, 1)]
    assert delong.interval(0.9, 0.02, separate_sample(30, 30)) == pytest.approx(expected)


def test_few_groups_take_t_with_two_degrees_less_than_groups():
    few, many = separate_sample(24, 60), separate_sample(25, 60)
    assert (few.degrees, many.degrees) == (82, math.inf)
    assert delong.p_value(0.1, 0.05, few) == pytest.approx(2 * stats.t.sf(2, 82), rel=1e-12)
    assert delong.p_value(-0.1, 0.05, many) == pytest.approx(2 * stats.norm.sf(2), rel=1e-12)
    reach = stats.t.ppf(0.975, 82) * 0.05 / 0.24
    low, high = delong.interval(0.6, 0.05, few)
    assert math.log(high / (1 - high)) - math.log(1.5) == pytest.approx(reach)
    assert math.log(1.5) - math.log(low / (1 - low)) == pytest.approx(reach)


def test_a_perfect_auc_has_an_exact_one_sided_bound():
    sample = separate_sample(10, 40)
    assert sample.independent_pairs == 10
    scores = np.array([sample.labels, ~sample.labels, np.zeros(50)], float)
    aucs, errors = delong.auc_errors(scores, sample)
    np.testing.assert_array_equal(aucs, [1, 0, 0.5])
    np.testing.assert_array_equal(errors, [0, 0, 0])
    low, high = delong.interval(1.0, 0.0, sample)
    assert high == 1
    assert stats.binom.pmf(10, 10, low) == pytest.approx(0.05)  # ten of ten pairs in order
    assert delong.interval(0.0, 0.0, sample) == pytest.approx((0, 1 - low))
    assert delong.p_value(0.5, 0.0, sample) == pytest.approx(stats.binomtest(10, 10).pvalue)
    assert delong.p_value(0.0, 0.0, sample) == 1
    # Each of 10 groups holds both classes: 5 pairs of groups.
    assert separate_sample(10, 40, "crossed").independent_pairs == 5


@pytest.mark.parametrize(
    ("labels", "groups", "message"),
    [
        ([1, 1, 1, 1], [0, 1, 2, 3], "dataset d: 4 members and 0 non-members"),
        ([1, 0, 0, 0], [0, 1, 2, 3], "dataset d: 1 members"),
        ([1, 1, 0, 0], [0, 0, 1, 2], "dataset d: all members share one group"),
        ([1, 1, 0, 0], [0, 1, 0, 1], "dataset d: 2 groups in all"),
    ],
)
def test_too_little_to_judge_is_the_users_to_mend(labels, groups, message):
    with pytest.raises(UserError, match=message):
        make_sample(np.array(labels, bool), np.array(groups), "d")


@pytest.mark.parametrize(
    ("groups", "grouping"),
    [([0, 1, 2, 3, 4, 5], "none"), ([0, 0, 1, 2, 3, 3], "nested"), ([0, 0, 1, 1, 2, 2], "crossed")],
)
def test_grouping(groups, grouping):
    labels = np.array([1, 1, 1, 0, 0, 0], bool)
    assert make_sample(labels, np.array(groups), "d").grouping == grouping
