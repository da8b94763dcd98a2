"""The gate step on files: the chosen classifiers, the permutation test and the shift."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from scripts import gate
from scripts.contracts.metrics import GATE
from scripts.contracts.scores import SCORES
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError

TEXT_COUNT = 400
LABELS = np.arange(TEXT_COUNT) % 2


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_texts([f"g{i}" for i in range(TEXT_COUNT)])


def write_texts(groups):
    columns = {
        "text_id": pa.array([f"text-{i}" for i in range(TEXT_COUNT)]),
        "text": pa.array(["a text"] * TEXT_COUNT),
        "label": pa.array(LABELS, pa.int8()),
        "group": pa.array(groups),
    }
    TEXTS.write(Path("texts.parquet"), pa.table(columns), {})


def write_blind(name, effects, inner, seed=0, refitted=None):
    """A baseline whose classifiers score labels with `effects` plus noise."""
    rng = np.random.default_rng(seed)
    columns = {
        classifier: effect * LABELS + rng.normal(size=TEXT_COUNT)
        for classifier, effect in effects.items()
    }
    source = {"learned_on": "out-of-fold" if refitted else "aside", "inner_auc": inner}
    if refitted:
        source["permutation_p"] = refitted
    ids = pa.array([f"text-{i}" for i in range(TEXT_COUNT)])
    SCORES.write(Path(f"{name}.parquet"), pa.table({"text_id": ids, **columns}), source)
    return columns


def run_gate(monkeypatch, names, selection="inner"):
    values = {"dataset": "d", "selection": selection, "bootstrap": 100, "seed": 1234}
    argv = ["gate", "--texts", "texts.parquet", "--gate", "gate.parquet", "--blind"]
    argv += [f"{name}.parquet" for name in names] + ["--settings", json.dumps(values)]
    monkeypatch.setattr(sys, "argv", argv)
    gate.main()
    rows = GATE.read(Path("gate.parquet")).to_pylist()
    return {(row["baseline"], row["classifier"]): row for row in rows}


def marked(rows, column):
    return [key for key, row in rows.items() if row[column]]


def test_the_best_is_chosen_by_inner_cross_validation(monkeypatch):
    # The classifier that is best on the evaluated texts has the worse inner AUC.
    columns = write_blind("words", {"lr": 0.0, "rf": 2.0}, {"lr": 0.6, "rf": 0.5})
    write_blind("vectors", {"lr": 0.0, "rf": 2.0}, {"lr": 0.52, "rf": 0.55}, seed=1)
    rows = run_gate(monkeypatch, ["words", "vectors"])
    assert list(rows) == [("words", "lr"), ("words", "rf"), ("vectors", "lr"), ("vectors", "rf")]
    assert marked(rows, "chosen") == [("words", "lr"), ("vectors", "rf")]
    assert marked(rows, "best") == [("words", "lr")]
    assert {row["selection"] for row in rows.values()} == {"inner"}
    # Both "rf" tell the classes apart, but neither is the best: that one may declare a shift.
    assert rows["words", "rf"]["p_permutation"] == rows["vectors", "rf"]["p_permutation"] < 0.001
    assert marked(rows, "shift") == []
    for classifier, scores in columns.items():
        row = rows["words", classifier]
        assert row["auc"] == pytest.approx(roc_auc_score(LABELS, scores), abs=1e-12)
        assert row["learned_on"] == "aside"


def test_selection_on_the_test_set_says_so(monkeypatch):
    write_blind("words", {"lr": 0.0, "rf": 2.0}, {"lr": 0.6, "rf": 0.5})
    rows = run_gate(monkeypatch, ["words"], "test")
    assert marked(rows, "best") == marked(rows, "shift") == [("words", "rf")]
    assert {row["selection"] for row in rows.values()} == {"test"}


def test_equally_good_classifiers_leave_the_first(monkeypatch):
    write_blind("b", {"lr": 0.0, "rf": 0.0}, {"lr": 0.5, "rf": 0.5})
    write_blind("a", {"lr": 0.0}, {"lr": 0.5})
    rows = run_gate(monkeypatch, ["b", "a"])
    assert marked(rows, "best") == [("b", "lr")]


def test_permutation_p_is_one_sided(monkeypatch):
    columns = write_blind("words", {"lr": -1.0, "rf": 0.15}, {"lr": 0.5, "rf": 0.5})
    rows = run_gate(monkeypatch, ["words"])
    assert rows["words", "lr"]["p_permutation"] == 1  # far below 0.5 is no shift
    assert rows["words", "lr"]["p"] < 1e-9
    # Without ties a permutation of labels is the Mann-Whitney test.
    scores = columns["rf"]
    members, nonmembers = scores[LABELS == 1], scores[LABELS == 0]
    expected = stats.mannwhitneyu(members, nonmembers, alternative="greater").pvalue
    assert rows["words", "rf"]["p_permutation"] == pytest.approx(expected, abs=0.02)


def test_a_classifier_that_learned_out_of_fold_brings_its_own_p(monkeypatch):
    write_blind("words", {"lr": 2.0}, {"lr": 0.9}, refitted={"lr": 0.123})
    [row] = run_gate(monkeypatch, ["words"]).values()
    assert (row["learned_on"], row["p_permutation"], row["shift"]) == ("out-of-fold", 0.123, False)


def test_the_best_out_of_fold_needs_a_p(monkeypatch):
    inner = {"lr": 0.6, "rf": 0.5}
    write_blind("words", {"lr": 0.0, "rf": 2.0}, inner, refitted={"lr": 0.4})
    rows = run_gate(monkeypatch, ["words"])
    assert [row["p_permutation"] for row in rows.values()] == [0.4, None]
    with pytest.raises(UserError, match="dataset d: blind_selection test chose rf of words"):
        run_gate(monkeypatch, ["words"], "test")


def test_whole_groups_are_permuted_when_nested(monkeypatch):
    # Ten groups of 40 texts, five a class: one group is far off, which ten groups cannot tell
    # from chance, but 400 texts on their own would.
    texts = np.arange(TEXT_COUNT)
    group = 2 * (texts // 80) + LABELS
    scores = np.where(group == 1, 5.0, 0) + np.random.default_rng(0).normal(size=TEXT_COUNT)
    ids = pa.array([f"text-{i}" for i in texts])
    source = {"learned_on": "aside", "inner_auc": {"lr": 0.5}}
    SCORES.write(Path("b.parquet"), pa.table({"text_id": ids, "lr": scores}), source)
    [alone] = run_gate(monkeypatch, ["b"]).values()
    write_texts([f"g{i}" for i in group])
    [nested] = run_gate(monkeypatch, ["b"]).values()
    assert nested["grouping"] == "nested"
    assert alone["p_permutation"] < 0.001 and alone["shift"]
    assert nested["p_permutation"] > 0.05 and not nested["shift"]
    assert nested["smallest_visible_auc"] > alone["smallest_visible_auc"] + 0.05


def test_smallest_visible_auc_of_single_texts(monkeypatch):
    write_blind("words", {"lr": 0.0}, {"lr": 0.5})
    [row] = run_gate(monkeypatch, ["words"]).values()
    # The null SE of a Mann-Whitney AUC with n a class is sqrt((2n + 1) / (12 n^2)).
    error = np.sqrt((TEXT_COUNT + 1) / 12) / (TEXT_COUNT / 2)
    expected = 0.5 + (stats.norm.ppf(0.95) + stats.norm.ppf(0.8)) * error
    assert row["smallest_visible_auc"] == pytest.approx(expected, abs=0.002)
