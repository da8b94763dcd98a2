"""Bootstrap, permutation and multiplicity against scikit-learn, enumeration and naive loops."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

from scripts.evaluation import bootstrap, delong, multiplicity, permutation
from scripts.evaluation.sample import make_sample

LIMITS = (0.05, 0.01)
GROUPINGS = ("none", "nested", "crossed")


def make_case(grouping, members=60, nonmembers=140, decimals=1, seed=0):
    rng = np.random.default_rng(seed)
    n = members + nonmembers
    labels = rng.permutation(n) < members
    groups = {
        "none": np.arange(n),
        "nested": rng.integers(0, 12, n) + 12 * labels,
        "crossed": rng.integers(0, 15, n),
    }[grouping]
    sample = make_sample(labels, np.unique(groups, return_inverse=True)[1], "d")
    assert sample.grouping == grouping
    effects = np.array([0, 0.5, 3])[:, None]
    return np.round(rng.normal(size=(3, n)) + effects * labels, decimals), sample


def sklearn_replicate(row, sample, members, nonmembers):
    """AUC and TPR at each limit on the resample itself, each text repeated as often as drawn."""
    drawn = np.concatenate(
        [
            np.repeat(np.flatnonzero(sample.labels), members),
            np.repeat(np.flatnonzero(~sample.labels), nonmembers),
        ]
    )
    labels, scores = sample.labels[drawn], row[drawn]
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    return roc_auc_score(labels, scores), [tpr[fpr <= limit].max() for limit in LIMITS]


def check_replicates(scores, sample, resamples):
    aucs, tprs = bootstrap.replicates(scores, sample, LIMITS, resamples, np.random.default_rng(1))
    drawn = bootstrap.draws(sample, resamples, np.random.default_rng(1))
    members, nonmembers = (np.hstack(counts) for counts in zip(*drawn, strict=True))
    for resample, (ones, zeros) in enumerate(zip(members.T, nonmembers.T, strict=True)):
        for index, row in enumerate(scores):
            auc, tpr = sklearn_replicate(row, sample, ones, zeros)
            assert aucs[index, resample] == pytest.approx(auc, abs=1e-12)
            assert tprs[index, :, resample] == pytest.approx(tpr, abs=1e-12)


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("blocks", [1, 5])
def test_replicates_equal_scikit_learn(monkeypatch, grouping, decimals, blocks):
    monkeypatch.setattr(bootstrap, "BLOCK", 200 * 30 // blocks)
    scores, sample = make_case(grouping, decimals=decimals)
    check_replicates(scores, sample, 30)
    assert len(list(bootstrap.draws(sample, 30, np.random.default_rng(1)))) == blocks


def test_replicates_of_many_texts_stay_exact():
    # 2 * 4,000 * 4,000 pairs, most of them lost, are more than float32 can count.
    scores, sample = make_case("none", 4000, 4000, 1)
    check_replicates(-scores, sample, 6)


def test_the_highest_nonmembers_may_all_be_missing():
    # Four groups of 100 non-members, the highest drawn in two of three resamples, then members.
    rng = np.random.default_rng(0)
    groups = np.arange(600) // 100
    sample = make_sample(np.isin(groups, [0, 4]), groups, "d")
    scores = (10 * groups + rng.normal(size=600))[None]
    check_replicates(scores, sample, 20)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_groups_are_drawn_whole(grouping):
    _, sample = make_case(grouping)
    [(members, nonmembers)] = bootstrap.draws(sample, 50, np.random.default_rng(0))
    times = np.empty((200, 50), int)
    times[sample.labels], times[~sample.labels] = members, nonmembers
    first = np.unique(sample.groups, return_index=True)[1]
    np.testing.assert_array_equal(times, times[first][sample.groups])
    if grouping == "crossed":
        np.testing.assert_array_equal(times[first].sum(0), sample.group_count)
    else:
        of_members = sample.labels[first]
        np.testing.assert_array_equal(times[first][of_members].sum(0), sample.member_groups)
        np.testing.assert_array_equal(times[first][~of_members].sum(0), sample.nonmember_groups)


def test_a_resample_without_a_class_is_drawn_again():
    labels = np.array([1, 1, 0, 0, 0, 1], bool)
    sample = make_sample(labels, np.array([0, 0, 1, 1, 2, 2]), "d")
    [(members, nonmembers)] = bootstrap.draws(sample, 500, np.random.default_rng(0))
    assert members.any(0).all() and nonmembers.any(0).all()


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_bootstrap_and_delong_agree(grouping):
    rng = np.random.default_rng(3)
    labels = np.arange(1200) < 600
    groups = {
        "none": np.arange(1200),
        "nested": np.arange(1200) // 10,
        "crossed": np.arange(1200) % 120,
    }[grouping]
    sample = make_sample(labels, groups, "d")
    scores = (rng.normal(size=1200) + 0.7 * rng.normal(size=1200)[groups] + labels)[None]
    aucs, _ = bootstrap.replicates(scores, sample, LIMITS, 2000, rng)
    ratio = aucs.std() / delong.auc_errors(scores, sample)[1][0]
    assert 0.9 < ratio < 1.1


def exact_nulls(row, units, sizes, member_units):
    """The AUCs of every way to give `member_units` of the units to the members, by scikit-learn."""
    found = []
    for chosen in itertools.combinations(range(len(sizes)), member_units):
        found.append(roc_auc_score(np.isin(units, chosen), row))
    return found


@pytest.mark.parametrize(
    ("labels", "groups"),
    [
        ([1, 1, 1, 0, 0, 0, 0], range(7)),
        ([1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 2, 2, 2]),
        ([1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 2, 2, 3, 4]),
    ],
)
def test_null_aucs_are_those_of_every_permutation(labels, groups):
    labels, groups = np.array(labels, bool), np.array(groups)
    sample = make_sample(labels, groups, "d")
    row = np.array([3, 1, 2, 1, 5, 0, 2.5, 2])[: len(labels)]
    units = groups if sample.grouping == "nested" else np.arange(len(labels))
    sizes = np.bincount(units)
    member_units = len(set(units[labels]))
    expected = exact_nulls(row, units, sizes, member_units)
    nulls = permutation.null_aucs(row[None], sample, 20_000, np.random.default_rng(0))[0]
    values, counts = np.unique(nulls.round(12), return_counts=True)
    known, ways = np.unique(np.round(expected, 12), return_counts=True)
    np.testing.assert_array_equal(values, known)
    # Each permutation is equally likely: chi-squared over the distinct AUCs.
    assert stats.chisquare(counts, 20_000 * ways / ways.sum()).pvalue > 1e-4


def test_null_aucs_of_many_texts_stay_exact():
    # Ranks of 6,002 texts add up to more than float32 can count; AUCs of s and -s add up to 1
    # (with 3,001 members, errors of rounding would not cancel).
    rng = np.random.default_rng(0)
    sample = make_sample(np.arange(6002) < 3001, np.arange(6002), "d")
    row = rng.normal(size=6002).round(2)
    there, back = permutation.null_aucs(np.array([row, -row]), sample, 20, rng)
    np.testing.assert_allclose(there + back, 1, rtol=1e-14)


@pytest.mark.parametrize("grouping", ["none", "nested"])
def test_permutation_p_is_uniform_under_the_null(grouping):
    rng = np.random.default_rng(5)
    labels = np.arange(120) < 60
    groups = np.arange(120) // (5 if grouping == "nested" else 1)
    sample = make_sample(labels, groups, "d")
    found = []
    for _ in range(300):
        row = rng.normal(size=120) + rng.normal(size=120)[groups]
        null = permutation.null_aucs(row[None], sample, 199, rng)[0]
        found.append(permutation.p_value(roc_auc_score(labels, row), null))
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    # The same texts without their groups: far too many small p-values.
    if grouping == "nested":
        alone = make_sample(labels, np.arange(120), "d")
        wrong = [
            permutation.p_value(
                roc_auc_score(labels, row), permutation.null_aucs(row[None], alone, 199, rng)[0]
            )
            for row in (rng.normal(size=120) + rng.normal(size=120)[groups] for _ in range(100))
        ]
        assert np.mean(np.array(wrong) < 0.05) > 0.12


def test_permutation_p_counts_the_observed_order_itself():
    assert permutation.p_value(0.7, np.array([0.5, 0.7, 0.6])) == 2 / 4
    assert permutation.p_value(0.9, np.array([0.5, 0.7, 0.6])) == 1 / 4


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_sign_flips_spread_as_delong_says(grouping):
    scores, sample = make_case(grouping, 300, 400, 2, seed=8)
    nulls = permutation.null_differences(
        scores[1:], scores[0], sample, 4000, np.random.default_rng(0)
    )
    _, errors = delong.paired(scores[1:], scores[0], sample)
    np.testing.assert_allclose(nulls.std(1), errors, rtol=0.08)


def test_holm_by_hand():
    # Sorted: 0.005 * 4, 0.01 * 3, 0.03 * 2, then 0.04 * 1 raised to the 0.06 before it.
    found = multiplicity.holm(np.array([0.01, 0.04, 0.03, 0.005]))
    np.testing.assert_allclose(found, [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_array_equal(multiplicity.holm(np.array([0.9, 0.8])), [1, 1])


def test_max_t_equals_a_naive_step_down():
    rng = np.random.default_rng(2)
    scale = np.array([1.0, 10, 0.1, 1])
    nulls = rng.normal(size=(4, 300)) * scale[:, None]
    nulls[3] = nulls[0]
    observed = np.array([1.5, -25, 0.05, 2.0])
    found = multiplicity.max_t(observed, nulls)

    t = np.abs(observed) / np.sqrt((nulls**2).mean(1))
    t_null = np.abs(nulls) / np.sqrt((nulls**2).mean(1))[:, None]
    left, before, expected = [0, 1, 2, 3], 0.0, np.empty(4)
    while left:
        strongest = max(left, key=lambda s: t[s])
        beaten = sum(max(t_null[s, b] for s in left) >= t[strongest] for b in range(300))
        before = expected[strongest] = max(before, (1 + beaten) / 301)
        left.remove(strongest)
    np.testing.assert_allclose(found, expected)


def test_max_t_of_equal_tests_costs_nothing():
    null = np.random.default_rng(0).normal(size=999)
    alone = (1 + (np.abs(null) >= 2).sum()) / 1000
    found = multiplicity.max_t(np.full(20, 2.0), np.tile(null, (20, 1)))
    np.testing.assert_allclose(found, alone)
