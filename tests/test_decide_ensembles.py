"""Ensembles and transfers against scikit-learn; what may not leak does not."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scripts import combine, cross, metrics
from scripts.baselines.learning import Rows
from scripts.contracts.metrics import METRICS
from scripts.contracts.scores import UNSCORED
from scripts.contracts.table import provenance
from scripts.contracts.transfer import TRANSFER
from scripts.errors import UserError
from scripts.learners import logistic_regression, xgboost
from scripts.seeds import derive
from tests.decisions import run_step, write_scores, write_texts

SETTINGS = {
    "model": "m",
    "dataset": "d",
    "ensemble": "s.e",
    "classifier": "logistic_regression",
    "settings": ["a(1)", "b"],
    "permutations": 19,
    "seed": 1,
}


def reference():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def case(count=200, effect=1.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(count) % 2
    return labels, rng.normal(size=(count, 2)) + effect * labels[:, None]


def run(monkeypatch, folder, settings=SETTINGS):
    out = folder / "ensembles" / "m" / "d" / "s.e.parquet"
    scores = [folder / f"scores/m/d/{attack}.parquet" for attack in "ab"]
    texts = folder / "texts/d/original.parquet"
    run_step(monkeypatch, combine, settings, texts=texts, scores=scores, ensemble=out)
    return out


def test_scores_are_scikit_learns_out_of_fold(tmp_path, monkeypatch):
    labels, matrix = case()
    known = [*labels.tolist(), None, None]
    write_texts(tmp_path, "d", known)
    extra = np.vstack([matrix, [[0.3, -0.2], [UNSCORED, UNSCORED]]])
    write_scores(tmp_path, "d", "a", a__1=extra[:, 0], a__2=np.zeros(202))
    write_scores(tmp_path, "d", "b", b=extra[:, 1])
    path = run(monkeypatch, tmp_path)
    found = pq.read_table(path)["s.e"].to_numpy()
    folds = StratifiedKFold(5, shuffle=True, random_state=derive(1, "blind folds", "d") % 2**32)
    expected = cross_val_predict(reference(), matrix, labels, cv=folds, method="decision_function")
    np.testing.assert_allclose(found[:200], expected, rtol=1e-9)
    whole = reference().fit(matrix, labels)
    np.testing.assert_allclose(found[200], whole.decision_function(extra[200:201])[0], rtol=1e-9)
    assert found[201] == UNSCORED
    notes = provenance(path)
    assert notes["learned_on"] == "out-of-fold"
    assert notes["learned_from"] == {"members": 100, "nonmembers": 100}
    assert notes["permutation_p"] == {"s.e": 1 / 20}  # an AUC that no permutation reaches


@pytest.mark.parametrize("classifier", ["logistic_regression", "xgboost"])
def test_a_books_label_is_no_help(tmp_path, monkeypatch, classifier):
    # Scores that tell the book and nothing else: a random split would learn each book's label.
    rng = np.random.default_rng(0)
    books = np.arange(400) // 10
    label_of = rng.permutation(40) % 2
    write_texts(tmp_path, "d", label_of[books].tolist(), books)
    of_book = rng.normal(size=(40, 2))[books]
    write_scores(tmp_path, "d", "a", a__1=of_book[:, 0])
    write_scores(tmp_path, "d", "b", b=of_book[:, 1])
    path = run(monkeypatch, tmp_path, {**SETTINGS, "classifier": classifier})
    auc = roc_auc_score(label_of[books], pq.read_table(path)["s.e"].to_numpy())
    assert 0.2 < auc < 0.75  # 40 books: SE 0.09
    assert provenance(path)["permutation_p"]["s.e"] > 0.05


def test_metrics_take_the_permutation_p_and_test_no_difference(tmp_path, monkeypatch):
    labels, matrix = case()
    texts = write_texts(tmp_path, "d", labels.tolist())
    write_scores(tmp_path, "d", "a", a__1=matrix[:, 0])
    write_scores(tmp_path, "d", "b", b=matrix[:, 1])
    scores = run(monkeypatch, tmp_path)
    loss = write_scores(tmp_path, "d", "loss", loss=matrix[:, 0])
    settings = {
        **{key: SETTINGS[key] for key in ("model", "dataset", "seed")},
        "attack": "s.e",
        "settings": ["s.e"],
        "bootstrap": 100,
    }
    out = tmp_path / "metrics.parquet"
    run_step(
        monkeypatch, metrics, settings, texts=texts, scores=scores, loss=loss, metrics=out,
        gate=[], blind=[],
    )  # fmt: skip
    [row] = METRICS.read(out).to_pylist()
    assert row["p"] == 1 / 20
    assert row["over_loss"] is not None
    assert row["over_loss_p"] is None and row["over_blind_p"] is None
    expected = roc_auc_score(labels, pq.read_table(scores)["s.e"].to_numpy())
    assert row["auc"] == pytest.approx(expected, abs=1e-12)


def test_boosted_trees_are_the_same_each_time_and_take_missing_scores():
    labels, matrix = case(effect=2.0)
    matrix[::7, 0] = np.nan
    first, second = (
        xgboost.pipeline(5).fit(matrix, labels).decision_function(matrix) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.float64
    assert roc_auc_score(labels, first) > 0.9
    # Log-odds, of the probability that XGBoost itself gives.
    p = xgboost.pipeline(5).fit(matrix, labels).predict_proba(matrix)[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-first)), p, rtol=1e-5)


def test_apart_domains_are_learned_whole():
    one, other = case(seed=1), case(seed=2, effect=0.5)
    names = np.array([f"a{i}" for i in range(200)])
    domains = {
        "one": Rows(one[1], one[0], names),
        "other": Rows(other[1], other[0], np.char.add("b", names)),
    }
    rows = cross.cross(domains, logistic_regression.pipeline(0), 7)
    found = {(row["learned_on"], row["judged_on"]): row for row in rows}
    scores = reference().fit(one[1], one[0]).decision_function(other[1])
    assert found["one", "other"]["auc"] == pytest.approx(roc_auc_score(other[0], scores), abs=1e-12)
    assert found["one", "other"]["learned_from"] == 200
    assert not found["one", "other"]["out_of_fold"]
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    scores = cross_val_predict(reference(), *one[::-1], cv=folds, method="decision_function")
    assert found["one", "one"]["auc"] == pytest.approx(roc_auc_score(one[0], scores), abs=1e-12)
    assert found["one", "one"]["out_of_fold"] and found["one", "one"]["learned_from"] == 160


def test_what_two_domains_share_is_never_both_learned_and_judged():
    # The same texts and labels in both; scores tell the group alone.
    rng = np.random.default_rng(0)
    groups = np.arange(600) // 10
    labels = (rng.permutation(60) % 2)[groups]
    matrix = rng.normal(size=(60, 2))[groups]
    rows = cross.cross(
        {name: Rows(matrix.copy(), labels.copy(), groups.copy()) for name in ("one", "twin")},
        xgboost.pipeline(0),
        3,
    )
    assert all(row["out_of_fold"] for row in rows)
    assert all(0.25 < row["auc"] < 0.75 for row in rows)
    leaked = xgboost.pipeline(0).fit(matrix, labels).decision_function(matrix)
    assert roc_auc_score(labels, leaked) > 0.99


def transfer(monkeypatch, folder, datasets, pools):
    settings = {
        "model": "m",
        "transfer": "s.t",
        "datasets": datasets,
        "pools": pools,
        "classifier": "logistic_regression",
        "settings": ["a(1)"],
        "seed": 1,
    }
    out = folder / "transfer.parquet"
    run_step(
        monkeypatch,
        cross,
        settings,
        texts=[folder / f"texts/{dataset}/original.parquet" for dataset in datasets],
        scores=[folder / f"scores/m/{pool}/a.parquet" for pool in dict.fromkeys(pools.values())],
        transfer=out,
    )
    return TRANSFER.read(out).to_pylist()


def test_domains_of_one_dataset(tmp_path, monkeypatch):
    labels, matrix = case()
    domains = ["maths", "law", None, "law", "maths"] * 40
    write_texts(tmp_path, "d", labels.tolist(), domains=domains)
    write_scores(tmp_path, "d", "a", a__1=matrix[:, 0])
    rows = transfer(monkeypatch, tmp_path, ["d"], {"d": "d"})
    assert [(r["learned_on"], r["judged_on"]) for r in rows] == [
        ("law", "law"),
        ("law", "maths"),
        ("maths", "law"),
        ("maths", "maths"),
    ]
    # One score: whatever was learned elsewhere keeps its order, and so its AUC.
    maths = np.array(domains) == "maths"
    expected = roc_auc_score(labels[maths], matrix[maths, 0])
    assert rows[1]["auc"] == pytest.approx(expected, abs=1e-12)


def test_a_dataset_without_domains_is_one_clear_line(tmp_path, monkeypatch):
    write_texts(tmp_path, "d", [0, 1] * 20)
    write_scores(tmp_path, "d", "a", a__1=np.arange(40))
    with pytest.raises(UserError, match="dataset d: it has no column `domain`"):
        transfer(monkeypatch, tmp_path, ["d"], {"d": "d"})
