"""Comparisons: paired differences, Holm by hand, max-T against a naive loop over the flips."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from scripts import compare
from scripts.contracts.comparison import COMPARISON
from scripts.evaluation.delong import paired
from scripts.evaluation.permutation import null_differences
from scripts.evaluation.sample import make_sample
from tests.decisions import run_step, write_scores, write_texts


def case(seed=0, texts=300):
    rng = np.random.default_rng(seed)
    labels = np.arange(texts) % 2 == 1
    groups = np.arange(texts) // 3
    common = rng.normal(size=texts) + 0.8 * labels
    scores = (
        common + 0.5 * rng.normal(size=(4, texts)) + np.array([0, 0, 0.1, 0.4])[:, None] * labels
    )
    return scores, labels, groups


def run(monkeypatch, folder, reference, correction):
    scores, labels, groups = case()
    texts = write_texts(folder, "d", labels.astype(int).tolist(), groups)
    paths = [
        write_scores(folder, "d", "a", a__1=scores[0], a__2=scores[1]),
        write_scores(folder, "d", "b", b__1=scores[2], b__2=scores[3]),
    ]
    settings = {
        "model": "m",
        "dataset": "d",
        "comparison": "s.c",
        "settings": ["a(1)", "a(2)", "b(1)", "b(2)"],
        "reference": reference,
        "correction": correction,
        "seed": 1,
    }
    out = folder / "comparison.parquet"
    run_step(monkeypatch, compare, settings, texts=texts, scores=paths, comparison=out)
    return COMPARISON.read(out).to_pylist()


def test_all_against_one_by_holm(tmp_path, monkeypatch):
    rows = run(monkeypatch, tmp_path, "a(2)", "holm")
    assert [(row["setting"], row["against"]) for row in rows] == [
        ("a(1)", "a(2)"),
        ("b(1)", "a(2)"),
        ("b(2)", "a(2)"),
    ]
    scores, labels, groups = case()
    sample = make_sample(labels, groups, "d")
    for row, place in zip(rows, (0, 2, 3), strict=True):
        aucs = [roc_auc_score(labels, scores[i]) for i in (place, 1)]
        assert (row["auc"], row["auc_against"]) == pytest.approx(aucs, abs=1e-12)
        _, [error] = paired(scores[[place]], scores[1], sample)
        assert row["difference_se"] == pytest.approx(error)
        # 100 groups in each class: normal.
        assert row["difference_high"] == pytest.approx(row["difference"] + 1.959964 * error)
    p = sorted(row["p"] for row in rows)
    by_hand = [3 * p[0], max(3 * p[0], 2 * p[1]), max(3 * p[0], 2 * p[1], p[2])]
    adjusted = sorted(row["p_adjusted"] for row in rows)
    assert adjusted == pytest.approx(np.minimum(1, by_hand))


def test_all_pairs_by_max_t(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "FLIPS", 800)
    rows = run(monkeypatch, tmp_path, None, "max_t")
    assert len(rows) == 6
    scores, labels, groups = case()
    sample = make_sample(labels, groups, "d")
    rng = compare.generator(1, "comparison", "d")
    flipped = null_differences(scores, scores[0], sample, 800, rng)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    nulls = np.array([flipped[i] - flipped[j] for i, j in pairs])
    # The same signs as if each pair were flipped on its own.
    rng = compare.generator(1, "comparison", "d")
    alone = null_differences(scores[[1]], scores[2], sample, 800, rng)
    np.testing.assert_allclose(nulls[3], alone[0], atol=1e-12)
    sizes = np.array([abs(row["difference"]) for row in rows]) / np.sqrt((nulls**2).mean(1))
    nulls = np.abs(nulls) / np.sqrt((nulls**2).mean(1))[:, None]
    left, floor = list(np.argsort(-sizes)), 0.0
    while left:  # Westfall and Young: the largest of what is left, then without it
        reached = sum(max(nulls[k][flip] for k in left) >= sizes[left[0]] for flip in range(800))
        floor = max(floor, (1 + reached) / 801)
        assert rows[left[0]]["p_adjusted"] == pytest.approx(floor)
        left = left[1:]
    assert min(row["p_adjusted"] for row in rows) < 0.05
