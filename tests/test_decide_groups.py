"""Groups and dataset inference against scipy and by hand; p-values uniform under the null."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from scripts import aggregate, infer
from scripts.baselines.learning import Rows
from scripts.contracts.inference import INFERENCE, SUSPECT
from scripts.contracts.metrics import METRICS
from scripts.contracts.scores import UNSCORED
from scripts.contracts.table import provenance
from scripts.errors import UserError
from scripts.evaluation.welch import one_sided
from tests.decisions import run_step, write_scores, write_texts


def test_without_groups_it_is_welchs_test():
    rng = np.random.default_rng(0)
    labels = np.arange(70) < 25
    scores = rng.normal(size=70) * np.where(labels, 3, 1) + labels
    found = one_sided(scores, labels, np.arange(70))
    expected = stats.ttest_ind(
        scores[labels], scores[~labels], equal_var=False, alternative="greater"
    )
    assert found.difference / found.error == pytest.approx(expected.statistic)
    assert found.degrees == pytest.approx(expected.df)
    assert found.p == pytest.approx(expected.pvalue)


def test_with_equal_books_it_is_welchs_test_of_their_means():
    rng = np.random.default_rng(1)
    books = np.arange(300) // 10
    labels = books < 12
    scores = rng.normal(size=300) + rng.normal(size=30)[books]
    found = one_sided(scores, labels, books)
    means = scores.reshape(30, 10).mean(1)
    expected = stats.ttest_ind(means[:12], means[12:], equal_var=False, alternative="greater")
    assert found.p == pytest.approx(expected.pvalue)


def test_with_a_member_and_a_nonmember_each_it_is_paired():
    rng = np.random.default_rng(2)
    groups = np.arange(80) // 2
    labels = np.arange(80) % 2 == 1
    scores = rng.normal(size=80) + 3 * rng.normal(size=40)[groups]
    found = one_sided(scores, labels, groups)
    differences = scores[1::2] - scores[::2]
    assert found.difference == pytest.approx(differences.mean())
    assert found.error == pytest.approx(stats.sem(differences))
    assert found.degrees == 38


def test_one_group_of_a_class_says_nothing():
    labels = np.arange(6) < 3
    assert one_sided(np.arange(6.0), labels, np.array([0, 0, 0, 1, 2, 3])) is None
    assert one_sided(np.ones(6), labels, np.arange(6)) is None


def rows_of(rng, groups, effect, crossed=False):
    """Three scores of 10 texts each of `groups` groups, half of the variance between groups."""
    codes = np.arange(10 * groups) // 10
    labels = codes % 2
    if crossed:
        labels = rng.permutation(10 * groups) % 2
    matrix = rng.normal(size=(len(codes), 3)) + rng.normal(size=(groups, 3))[codes]
    return Rows(matrix + effect * labels[:, None], labels, codes)


@pytest.mark.parametrize("crossed", [False, True])
def test_p_values_are_uniform_under_the_null(crossed):
    # Fresh data each time: learned on one half, tested on the other, with nothing to find.
    rng = np.random.default_rng(3)
    found = []
    for _ in range(250):
        half = infer.held_half(rows_of(rng, 40, 0, crossed), rng, "d")
        found.append(one_sided(*half).p)
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    assert np.mean(np.array(found) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 250)


@pytest.mark.parametrize("crossed", [False, True])
def test_the_false_positive_run_finds_nothing_where_texts_share_books(monkeypatch, crossed):
    monkeypatch.setattr(infer, "SPLITS", 100)
    rng = np.random.default_rng(4)
    rows = rows_of(rng, 80, 1.0, crossed)
    p = [row["p"] for row in infer.false_positive_rows(rows, 1, "d")]
    assert len(p) == 100
    assert np.mean(np.array(p) < 0.05) <= 0.12  # 5 % with a standard error of 2 points
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def run_inference(monkeypatch, folder, labels, groups, scores):
    texts = write_texts(folder, "d", labels, groups)
    path = write_scores(folder, "d", "a", a__1=scores[:, 0], a__2=scores[:, 1])
    settings = {
        "model": "m",
        "dataset": "d",
        "inference": "s.i",
        "settings": ["a(1)", "a(2)"],
        "seed": 1,
    }
    out = folder / "inference.parquet"
    run_step(monkeypatch, infer, settings, texts=texts, scores=[path], inference=out)
    return INFERENCE.read(out).to_pylist()


def test_more_texts_see_more(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    labels = np.arange(400) % 2
    scores = rng.normal(size=(400, 2)) + 0.6 * labels[:, None]
    found = run_inference(monkeypatch, tmp_path, labels.tolist(), None, scores)
    tests = [row for row in found if row["split"] == SUSPECT]
    assert [row["suspects"] for row in tests] == [10, 20, 50, 100]
    assert tests[-1]["p"] < 1e-4 and tests[-1]["p"] < tests[0]["p"]
    assert {row["split"] for row in found} == {SUSPECT, *range(infer.SPLITS)}


def test_too_few_groups_are_one_clear_line(tmp_path, monkeypatch):
    labels, groups = [0, 1] * 30, [f"{i % 2}{i // 20}" for i in range(60)]
    with pytest.raises(UserError, match=r"dataset d: 3 groups of suspects \(label 1\)"):
        run_inference(monkeypatch, tmp_path, labels, groups, np.ones((60, 2)))


def test_groups_are_scored_by_their_mean(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    books = rng.integers(0, 30, 300)
    labels = books % 3 == 0
    scores = rng.normal(size=300) + rng.normal(size=30)[books] + labels
    scores[:5] = UNSCORED
    texts = write_texts(tmp_path, "d", labels.astype(int).tolist(), books)
    path = write_scores(tmp_path, "d", "a", a__1=scores)
    loss = write_scores(tmp_path, "d", "loss", loss=rng.normal(size=300))
    settings = {
        "model": "m",
        "dataset": "d",
        "attack": "a",
        "settings": ["a(1)"],
        "bootstrap": 100,
        "seed": 1,
    }
    out = tmp_path / "groups.parquet"
    run_step(monkeypatch, aggregate, settings, texts=texts, scores=path, loss=loss, groups=out)
    [row] = METRICS.read(out).to_pylist()
    means = [scores[(books == book) & (scores != UNSCORED)].mean() for book in range(30)]
    assert row["auc"] == roc_auc_score(np.arange(30) % 3 == 0, means)
    assert (row["members"], row["nonmembers"], row["grouping"]) == (10, 20, "none")
    assert provenance(out)["unit"] == "group"


def test_a_speech_with_both_classes_is_two_units_of_one_group():
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    labels = np.array([1, 1, 0, 1, 0, 0, 0, 1], bool)
    sample = aggregate.make_sample(labels, groups, "d")
    scores = np.array([[1.0, 3, 5, 2, 4, 6, 8, 0]])
    means, units = aggregate.group_means(scores, sample, "d")
    # Non-members of a group first: 5; members of it: (1 + 3) / 2; and so on.
    assert means.tolist() == [[5, 2, 4, 2, 7, 0]]
    assert units.labels.tolist() == [False, True] * 3
    assert units.groups.tolist() == [0, 0, 1, 1, 2, 2] and units.grouping == "crossed"
