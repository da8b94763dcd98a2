"""The metrics step on files: rows, alignment, paired differences and what it refuses."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

from scripts import metrics
from scripts.contracts.metrics import GATE, METRICS
from scripts.contracts.scores import SCORES, UNSCORED
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError

TEXT_COUNT, UNLABELLED, OTHERS = 300, 20, 50
MIN_K = ["min_k(ratio=0.1)", "min_k(ratio=0.2)"]


def write_texts(ids, labels, groups):
    columns = {
        "text_id": pa.array(ids),
        "text": pa.array(["a text"] * len(ids)),
        "label": pa.array(labels, pa.int8()),
        "group": pa.array(groups),
    }
    TEXTS.write(Path("texts.parquet"), pa.table(columns), {})


def write_scores(name, ids, columns):
    path = Path(f"{name}.parquet")
    SCORES.write(path, pa.table({"text_id": pa.array(ids), **columns}), {"attack": name})


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Files: texts, some without a label; scores of a larger pool in another order."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, TEXT_COUNT)
    ids = [f"text-{i}" for i in range(TEXT_COUNT)]
    known = [None] * UNLABELLED + labels[UNLABELLED:].tolist()
    write_texts(ids, known, ids)
    pool = ids + [f"other-{i}" for i in range(OTHERS)]
    loss = np.append(labels, np.zeros(OTHERS)) + rng.normal(size=len(pool))
    missing = np.arange(len(pool)) % 7 == 0
    columns = {
        "loss": loss,
        MIN_K[0]: loss + rng.normal(size=len(pool)),
        MIN_K[1]: np.where(missing, UNSCORED, loss),
        "logistic_regression": rng.normal(size=len(pool)),
        "random_forest": rng.normal(size=len(pool)),
    }
    order = rng.permutation(len(pool))
    shuffled = [pool[i] for i in order]
    for name, held in {
        "loss": ["loss"],
        "min_k": MIN_K,
        "tf_idf": ["logistic_regression", "random_forest"],
        "word_count": ["logistic_regression"],
    }.items():
        write_scores(name, shuffled, {column: columns[column][order] for column in held})
    write_gate([("word_count", "logistic_regression", False), ("tf_idf", "random_forest", True)])
    evaluated = slice(UNLABELLED, TEXT_COUNT)
    return labels[evaluated] == 1, {name: values[evaluated] for name, values in columns.items()}


def write_gate(classifiers):
    rows = []
    for baseline, classifier, best in classifiers:
        row = {}
        for field in GATE.required:
            kinds = {"string": "", "bool": False}
            row[field.name] = kinds.get(str(field.type), 0)
        row |= {"baseline": baseline, "classifier": classifier, "best": best}
        rows.append(row)
    GATE.write(Path("gate.parquet"), pa.Table.from_pylist(rows, GATE.required), {})


def run_metrics(monkeypatch, attack="min_k", settings=MIN_K, blind=True, dataset="d"):
    values = {
        "model": "m",
        "dataset": dataset,
        "attack": attack,
        "settings": settings,
        "bootstrap": 200,
        "seed": 1234,
    }
    gate = ["--gate", "gate.parquet", "--blind", "word_count.parquet", "tf_idf.parquet"]
    argv = (
        f"metrics --texts texts.parquet --scores {attack}.parquet --loss loss.parquet "
        "--metrics metrics.parquet"
    ).split()
    argv += (gate if blind else ["--gate", "--blind"]) + ["--settings", json.dumps(values)]
    monkeypatch.setattr(sys, "argv", argv)
    metrics.main()
    return METRICS.read(Path("metrics.parquet")).to_pylist()


def plain_placements(row, labels):
    """Placements of members and of non-members, from all pairs."""
    psi = np.heaviside(row[labels][:, None] - row[~labels], 0.5)
    return psi.mean(1), psi.mean(0)


def test_rows_hold_what_scikit_learn_says(study, monkeypatch):
    labels, columns = study
    rows = run_metrics(monkeypatch)
    assert [row["setting"] for row in rows] == MIN_K
    for row in rows:
        scores = columns[row["setting"]]
        assert (row["model"], row["dataset"], row["attack"]) == ("m", "d", "min_k")
        assert (row["members"], row["nonmembers"]) == (labels.sum(), (~labels).sum())
        assert (row["member_groups"], row["grouping"]) == (labels.sum(), "none")
        assert row["auc"] == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
        assert row["auc_low"] < row["auc"] < row["auc_high"]
        v10, v01 = plain_placements(scores, labels)
        error = np.sqrt(v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01))
        assert row["auc_se"] == pytest.approx(error)
        assert row["auc_se_bootstrap"] == pytest.approx(error, rel=0.2)
        assert row["p"] == pytest.approx(2 * stats.norm.sf(row["z"]))
        fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
        for limit in ("0.05", "0.01"):
            allowed = fpr <= float(limit)
            assert row[f"tpr_at_{limit}"] == tpr[allowed].max()
            assert row[f"fpr_at_{limit}"] <= float(limit)
            low, high = row[f"tpr_at_{limit}_low"], row[f"tpr_at_{limit}_high"]
            assert low <= row[f"tpr_at_{limit}"] <= high
    # Every seventh text of the pool: 42, 49 … 294 have a label.
    unscored = sum(i % 7 == 0 for i in range(UNLABELLED, TEXT_COUNT))
    assert [row["unscored"] for row in rows] == [0, unscored]
    assert provenance(Path("metrics.parquet"))["scores"]["attack"] == "min_k"


def test_differences_are_paired(study, monkeypatch):
    labels, columns = study
    rows = run_metrics(monkeypatch)
    for column, reference in (("over_loss", "loss"), ("over_blind", "random_forest")):
        for row in rows:
            own = plain_placements(columns[row["setting"]], labels)
            other = plain_placements(columns[reference], labels)
            v10, v01 = own[0] - other[0], own[1] - other[1]
            error = np.sqrt(v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01))
            assert row[column] == pytest.approx(v10.mean())
            assert row[f"{column}_se"] == pytest.approx(error)
            expected = 2 * stats.norm.sf(abs(v10.mean()) / error)
            assert row[f"{column}_p"] == pytest.approx(expected)


def test_loss_has_no_difference_to_itself_and_needs_no_baseline(study, monkeypatch):
    [row] = run_metrics(monkeypatch, "loss", ["loss"], blind=False)
    for name in ("over_loss", "over_blind"):
        assert [row[name], row[f"{name}_se"], row[f"{name}_p"]] == [None] * 3


def test_attacks_share_the_resamples_of_a_dataset(study, monkeypatch):
    labels, columns = study
    [of_loss] = run_metrics(monkeypatch, "loss", ["loss"])
    write_scores("copy", [f"text-{i}" for i in range(UNLABELLED, TEXT_COUNT)], columns)
    [copied] = run_metrics(monkeypatch, "copy", ["loss"])
    assert copied["auc_se_bootstrap"] == of_loss["auc_se_bootstrap"]
    [elsewhere] = run_metrics(monkeypatch, "copy", ["loss"], dataset="e")
    assert elsewhere["auc_se_bootstrap"] != of_loss["auc_se_bootstrap"]


def test_the_same_inputs_give_the_same_bytes(study, monkeypatch):
    run_metrics(monkeypatch)
    first = Path("metrics.parquet").read_bytes()
    run_metrics(monkeypatch)
    assert Path("metrics.parquet").read_bytes() == first


def test_groups_widen_what_is_known(study, monkeypatch):
    labels, columns = study
    ids = [f"text-{i}" for i in range(UNLABELLED, TEXT_COUNT)]
    by_score = np.argsort(np.argsort(columns["loss"])) // 20  # texts of a group are alike
    groups = [
        f"{label}-{group}" for label, group in zip(labels.tolist(), by_score.tolist(), strict=True)
    ]
    [alone] = run_metrics(monkeypatch, "loss", ["loss"])
    write_texts(ids, labels.astype(int).tolist(), groups)
    [grouped] = run_metrics(monkeypatch, "loss", ["loss"])
    assert grouped["grouping"] == "nested"
    assert grouped["member_groups"] == len({group for group in groups if group[0] == "T"})
    assert grouped["auc"] == alone["auc"]
    assert grouped["auc_se"] > 2 * alone["auc_se"]
    assert grouped["auc_se_bootstrap"] > 2 * alone["auc_se_bootstrap"]


def test_one_class_is_refused(study, monkeypatch):
    write_texts(["a", "b", "c"], [1, 1, None], ["a", "b", "c"])
    with pytest.raises(
        UserError,
        match="dataset d: 2 members and 0 non-members with a label; .*table `calibration`",
    ):
        run_metrics(monkeypatch)


def test_missing_and_nan_scores_are_a_bug(study, monkeypatch):
    write_scores("min_k", ["text-50"], {name: np.zeros(1) for name in MIN_K})
    with pytest.raises(ValueError, match="no score for 279 of 280 texts"):
        run_metrics(monkeypatch)
    ids = [f"text-{i}" for i in range(TEXT_COUNT)]
    broken = np.where(np.arange(TEXT_COUNT) == 99, np.nan, 0.5)
    write_scores("min_k", ids, {MIN_K[0]: np.zeros(TEXT_COUNT), MIN_K[1]: broken})
    with pytest.raises(ValueError, match=r"min_k\(ratio=0.2\) has NaN"):
        run_metrics(monkeypatch)
