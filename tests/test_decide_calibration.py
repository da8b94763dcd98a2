"""Thresholds, conformal p-values and intervals of shares, against scipy, by hand, in simulation."""

import numpy as np
import pytest
from scipy import stats

from scripts import calibrate
from scripts.contracts.calibration import CALIBRATION
from scripts.contracts.table import provenance
from scripts.errors import UserError
from scripts.evaluation.conformal import needed, p_values, threshold
from scripts.evaluation.proportions import clopper_pearson, effective_texts, share_interval
from tests.decisions import run_step, write_scores, write_texts


def test_p_values_by_hand():
    # Four known non-members; 3 is reached by two of them (3 and 5): (1 + 2) / 5.
    found = p_values(np.array([3.0, 6.0, 0.0]), np.array([5.0, 1.0, 3.0, 2.0]))
    assert found.tolist() == [3 / 5, 1 / 5, 1.0]


@pytest.mark.parametrize("fpr", [0.05, 0.1, 0.07, 0.5])
@pytest.mark.parametrize("decimals", [0, 3])
def test_the_threshold_calls_what_the_p_values_call(fpr, decimals):
    rng = np.random.default_rng(0)
    for count in range(1, 120):
        known = rng.normal(size=count).round(decimals)
        scores = rng.normal(size=50).round(decimals)
        gamma = threshold(known, fpr)
        called = np.zeros(50, bool) if gamma is None else scores > gamma
        np.testing.assert_array_equal(called, p_values(scores, known) <= fpr)


def test_19_nonmembers_are_needed_for_5_percent():
    # The smallest p-value of n non-members is 1 / (n + 1).
    assert threshold(np.arange(18.0), 0.05) is None
    assert threshold(np.arange(19.0), 0.05) == 18.0


def test_p_values_of_nonmembers_are_uniform():
    # One new non-member against 99 known ones: each of 1/100, 2/100, … 1 is equally likely.
    rng = np.random.default_rng(1)
    draws = rng.standard_t(2, size=(8000, 100))
    found = [p_values(draw[:1], draw[1:])[0] for draw in draws]
    counts = np.bincount(np.round(100 * np.array(found)).astype(int), minlength=101)[1:]
    assert stats.chisquare(counts).pvalue > 1e-3


def test_the_realised_fpr_stays_in_its_band():
    # 199 calibrate, 200 are judged: false calls are beta-binomial(200, 10, 190), mean 10.
    rng = np.random.default_rng(2)
    law = stats.betabinom(200, 10, 190)
    calls = []
    for _ in range(3000):
        draw = rng.exponential(size=399)
        calls.append((draw[199:] > threshold(draw[:199], 0.05)).sum())
    assert np.mean(calls) == pytest.approx(law.mean(), abs=4 * law.std() / np.sqrt(3000))
    low, high = law.ppf([0.025, 0.975])
    expected = law.cdf(high) - law.cdf(low - 1)
    inside = np.mean((calls >= low) & (calls <= high))
    assert inside == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize(("hits", "texts"), [(0, 40), (1, 40), (7, 31), (40, 40)])
def test_clopper_pearson_is_scipys(hits, texts):
    expected = stats.binomtest(hits, texts).proportion_ci(0.95, "exact")
    assert clopper_pearson(hits / texts, texts) == pytest.approx(tuple(expected), abs=1e-12)
    flags = np.arange(texts) < hits
    share, *ends = share_interval(flags, np.arange(texts))
    assert (share, *ends) == pytest.approx((hits / texts, *expected), abs=1e-12)


def test_texts_that_say_the_same_count_once():
    # 30 groups of 10 texts that are all alike: as much as 30 texts (less a factor of 29 / 30 for
    # the estimated variance), and t with 29 in place of 299 degrees: (1.96793 / 2.04523) ** 2.
    hits = np.repeat(np.arange(30) < 6, 10)
    expected = 29 * (1.96793 / 2.04523) ** 2
    assert effective_texts(hits, np.repeat(np.arange(30), 10)) == pytest.approx(expected, rel=1e-4)
    assert effective_texts(np.zeros(300, bool), np.repeat(np.arange(30), 10)) == 30


def test_the_interval_of_a_share_covers_with_groups():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 20)
    inside, alone = [], []
    for _ in range(1500):
        rates = rng.beta(1, 9, size=60)  # mean 0.1
        hits = rng.random(1200) < rates[groups]
        _, low, high = share_interval(hits, groups)
        inside.append(low <= 0.1 <= high)
        low, high = clopper_pearson(hits.mean(), 1200)
        alone.append(low <= 0.1 <= high)
    assert 0.93 < np.mean(inside) < 0.985
    assert np.mean(alone) < 0.85  # what ignoring the groups would do


SETTINGS = {
    "model": "m",
    "dataset": "d",
    "attack": "a",
    "settings": ["a(1)"],
    "calibration": None,
    "fpr": 0.1,
    "seed": 1,
}


def run(monkeypatch, folder, settings=SETTINGS, **others):
    out = folder / "calibration.parquet"
    run_step(
        monkeypatch,
        calibrate,
        settings,
        texts=folder / "texts/d/original.parquet",
        scores=folder / "scores/m/d/a.parquet",
        calibration=out,
        **others,
    )
    return CALIBRATION.read(out).to_pylist(), provenance(out)


def test_unlabelled_texts_are_judged_and_groups_never_shared(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = [0] * 200 + [None] * 60 + [1] * 40
    groups = [f"book {i // 8}" for i in range(300)]
    write_texts(tmp_path, "d", labels, groups)
    write_scores(tmp_path, "d", "a", a__1=rng.normal(size=300), a__2=rng.normal(size=300))
    rows, found = run(monkeypatch, tmp_path)
    assert len(rows) == 300
    known = [row for row in rows if not row["judged"]]
    assert found["calibrating"] == len(known) and 92 <= len(known) <= 108
    assert {row["label"] for row in known} == {0}
    judged = [row for row in rows if row["judged"]]
    assert not {r["group"] for r in known} & {r["group"] for r in judged if r["label"] == 0}
    assert {row["label"] for row in judged} == {0, 1, None}
    calibrating = np.array([row["score"] for row in known])
    for row in judged:
        p = (1 + (calibrating >= row["score"]).sum()) / (len(calibrating) + 1)
        assert row["p_value"] == p
        assert row["decision"] == (p <= 0.1) == (row["score"] > row["threshold"])
    assert all(row["p_value"] is None and row["decision"] is None for row in known)
    again, _ = run(monkeypatch, tmp_path)
    assert again == rows


def test_another_dataset_calibrates(tmp_path, monkeypatch):
    write_texts(tmp_path, "d", [None] * 30)
    write_scores(tmp_path, "d", "a", a__1=np.arange(30))
    other = write_texts(tmp_path, "o", [0] * 25 + [1, None])
    scores = write_scores(tmp_path, "o", "a", a__1=[*range(25), 99, 99])
    settings = {**SETTINGS, "calibration": "o"}
    rows, found = run(monkeypatch, tmp_path, settings, other_texts=[other], other_scores=[scores])
    assert found["calibrating"] == 25
    # Of 25 the two highest (24, 23) are what 10 % allow: floor(0.1 * 26) = 2.
    assert {row["threshold"] for row in rows} == {23.0}
    assert sum(row["decision"] for row in rows) == 6


@pytest.mark.parametrize(
    ("labels", "groups", "message"),
    [
        ([0] * 9 + [None], ["one"] * 10, r"dataset d: a threshold needs non-members"),
        ([1] * 10, None, r"dataset d: a threshold needs non-members"),
    ],
)
def test_too_few_nonmembers_are_one_clear_line(tmp_path, monkeypatch, labels, groups, message):
    write_texts(tmp_path, "d", labels, groups)
    write_scores(tmp_path, "d", "a", a__1=np.arange(10))
    with pytest.raises(UserError, match=message):
        run(monkeypatch, tmp_path)


def test_shared_groups_leave_nothing_to_calibrate_on(tmp_path, monkeypatch):
    write_texts(tmp_path, "d", [None] * 4, ["g"] * 4)
    write_scores(tmp_path, "d", "a", a__1=np.arange(4))
    other = write_texts(tmp_path, "o", [0] * 4, ["g"] * 4)
    scores = write_scores(tmp_path, "o", "a", a__1=np.arange(4))
    settings = {**SETTINGS, "calibration": "o"}
    with pytest.raises(UserError, match="no non-member of 'o' is left"):
        run(monkeypatch, tmp_path, settings, other_texts=[other], other_scores=[scores])


@pytest.mark.parametrize(("fpr", "least"), [(0.05, 19), (0.01, 99), (0.1, 9), (0.3, 3), (0.5, 1)])
def test_fewest_non_members_for_a_threshold(fpr, least):
    # By hand: 1 / (n + 1) <= fpr.
    assert needed(fpr) == least
    assert threshold(np.arange(least), fpr) is not None
    assert threshold(np.arange(least - 1), fpr) is None
