"""Blind baselines end to end: what they find, what they must not find, and how they refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from scripts import blind
from scripts.blind import judge, learnable
from scripts.contracts.scores import SCORES
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.seeds import derive

ROOT = Path(__file__).parents[1]
SEED = 7
WORDS = np.array([f"word{number:03d}" for number in range(200)])


def settings(**changes) -> dict:
    return {
        "dataset": "d",
        "baseline": "bow_text",
        "features": "bow",
        "on": "text",
        "classifiers": ["logistic_regression"],
        "permutations": 19,
        "seed": SEED,
        **changes,
    }


def texts(
    labels: list, seed: int, groups: list | None = None, words: dict | None = None
) -> pa.Table:
    """Texts of 20 random words, ending in `words[label]`; token ids are the words' numbers."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(WORDS), (len(labels), 20))
    ids = [f"{seed}-{row}" for row in range(len(labels))]
    ends = [f" {words[label]}" if words else "" for label in labels]
    return pa.table(
        {
            "text_id": ids,
            "text": [" ".join(WORDS[row]) + end for row, end in zip(drawn, ends, strict=True)],
            "label": pa.array(labels, pa.int8()),
            "group": ids if groups is None else groups,
            "token_ids": pa.array(drawn.tolist(), pa.list_(pa.int32())),
        },
        pa.schema([*TEXTS.required, TEXTS.optional.field("token_ids")]),
    )


def half(rows: int) -> list[int]:
    return [1] * (rows // 2) + [0] * (rows // 2)


def aucs(table: pa.Table, judged: pa.Table) -> dict[str, float]:
    assert judged["text_id"] == table["text_id"]
    return {
        name: roc_auc_score(table["label"].to_pylist(), judged[name].to_numpy())
        for name in judged.column_names[1:]
    }


ALL = ["logistic_regression", "random_forest", "mlp"]
NO_ASIDE = texts([], 99)


@pytest.mark.parametrize("features", ["bow", "tfidf"])
def test_what_tells_the_classes_apart_is_found(features: str) -> None:
    words = {1: "recent", 0: "ancient"}
    table, aside = texts(half(200), 1, words=words), texts(half(600), 2, words=words)
    judged, found = judge(table, aside, settings(features=features, classifiers=ALL))
    assert found["learned_on"] == "aside"
    assert found["learned_from"] == {"members": 300, "nonmembers": 300}
    assert list(aucs(table, judged)) == ALL
    for found_aucs in (aucs(table, judged), found["inner_auc"]):
        assert min(found_aucs["logistic_regression"], found_aucs["random_forest"]) > 0.99
        assert found_aucs["mlp"] > 0.7  # ten epochs of five batches are few

    judged, found = judge(table, NO_ASIDE, settings(features=features))
    assert found["learned_on"] == "out-of-fold"
    assert aucs(table, judged)["logistic_regression"] > 0.9
    assert found["permutation_p"] == {"logistic_regression": 1 / 20}


def test_nothing_is_found_where_there_is_nothing() -> None:
    table, aside = texts(half(600), 1), texts(half(600), 2)
    judged, found = judge(table, aside, settings(classifiers=ALL))
    # SE of an AUC of two times 300: sqrt(601 / (12 * 300**2)) = 0.0236; four of them.
    assert all(abs(auc - 0.5) < 0.094 for auc in aucs(table, judged).values())
    assert all(abs(auc - 0.5) < 0.094 for auc in found["inner_auc"].values())


def marked(groups: int, rows: int, seed: int) -> tuple[pa.Table, np.ndarray]:
    """`groups` groups of `rows` texts, each with a word of its own, whose labels were tossed."""
    rng = np.random.default_rng(seed)
    of_group = rng.permutation([0, 1] * (groups // 2))
    names = np.repeat([f"book{group}" for group in range(groups)], rows)
    table = texts(np.repeat(of_group, rows).tolist(), seed, names.tolist())
    plain = table["text"].to_pylist()
    with_mark = [f"{text} {name} {name}" for text, name in zip(plain, names, strict=True)]
    return table.set_column(1, TEXTS.required.field("text"), [with_mark]), names


def test_a_group_known_by_its_own_word_does_not_give_its_label_away() -> None:
    table, _ = marked(40, 10, seed=3)
    judged, found = judge(table, NO_ASIDE, settings())
    # 20 groups a class, whose texts stand and fall together: SE sqrt(41 / (12 * 20**2)) = 0.092.
    assert aucs(table, judged)["logistic_regression"] < 0.5 + 2 * 0.092
    assert found["inner_auc"]["logistic_regression"] < 0.5 + 2 * 0.092
    assert found["permutation_p"]["logistic_regression"] > 0.05
    # The same with folds that cut through groups: what the test guards against.
    leaking = cross_val_predict(
        make_pipeline(CountVectorizer(min_df=2), LogisticRegression(max_iter=1000)),
        table["text"].to_pylist(),
        table["label"].to_numpy(),
        cv=KFold(5, shuffle=True, random_state=0),
        method="decision_function",
    )
    assert roc_auc_score(table["label"].to_numpy(), leaking) > 0.95


def test_rows_aside_of_evaluated_books_do_not_teach() -> None:
    everything, names = marked(40, 20, seed=3)
    odd = np.arange(len(names)) % 2 == 1  # half of each book aside
    table, aside = everything.filter(~odd), everything.filter(odd)
    judged, found = judge(table, aside, settings(permutations=1))
    assert found["learned_on"] == "out-of-fold"
    assert aucs(table, judged)["logistic_regression"] < 0.5 + 2 * 0.092
    # Where labels were drawn within books, sharing a book tells nothing, and the rows count.
    labels = pa.array(np.random.default_rng(0).integers(0, 2, len(names)), pa.int8())
    mixed = everything.set_column(2, TEXTS.required.field("label"), labels)
    learned = learnable(mixed.filter(~odd), mixed.filter(odd), np.random.default_rng(0))
    assert learned.num_rows == odd.sum()


def test_enough_rows_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    large = texts(half(1000), 1)
    assert learnable(large, texts([1] * 199 + [0] * 300, 2), rng).num_rows == 0
    assert learnable(large, texts([1] * 200 + [0] * 300, 2), rng).num_rows == 500
    # Fewer do where out-of-fold would learn on even fewer: 4/5 of 50 a class.
    small = texts(half(100), 1)
    assert learnable(small, texts([1] * 39 + [0] * 300, 2), rng).num_rows == 0
    assert learnable(small, texts([1] * 40 + [0] * 300, 2), rng).num_rows == 340
    assert learnable(small, texts([1] * 300 + [None] * 300, 2), rng).num_rows == 0
    monkeypatch.setattr(blind, "LEARN", 60)
    learned = learnable(small, texts([1] * 200 + [0] * 50 + [None] * 9, 2), rng)
    assert learned["label"].to_pylist() == [1] * 60 + [0] * 50


def state(classifier: str) -> int:
    return derive(SEED, "blind", classifier, "d") % 2**32


DIRECT = {
    "logistic_regression": LogisticRegression(max_iter=1000),
    "random_forest": RandomForestClassifier(100, random_state=state("random_forest")),
    "mlp": MLPClassifier(
        (250, 100, 10), batch_size=128, max_iter=10, alpha=0, random_state=state("mlp")
    ),
}
VECTORS = {
    ("bow", "text"): CountVectorizer(ngram_range=(1, 2), min_df=2, dtype=np.float64),
    ("tfidf", "text"): TfidfVectorizer(ngram_range=(1, 2), min_df=2),
    # Token ids in the order of numbers, as columns are.
    ("tfidf", "tokens"): make_pipeline(
        CountVectorizer(analyzer=lambda ids: [f"{i:05d}" for i in ids], dtype=np.float64),
        TfidfTransformer(),
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("features", "on"), VECTORS)
def test_scores_equal_a_direct_pipeline_of_scikit_learn(features: str, on: str) -> None:
    table, aside = texts(half(100), 1), texts(half(400), 2)
    judged, _ = judge(table, aside, settings(features=features, on=on, classifiers=ALL))
    column = "text" if on == "text" else "token_ids"
    for name, classifier in DIRECT.items():
        direct = make_pipeline(VECTORS[features, on], classifier)
        direct.fit(aside[column].to_pylist(), aside["label"].to_numpy())
        if name == "logistic_regression":
            expected = direct.decision_function(table[column].to_pylist())
        else:
            expected = direct.predict_proba(table[column].to_pylist())[:, 1]
        # The MLP learns in float32 here, in float64 there.
        tolerance = 1e-4 if name == "mlp" else 1e-9
        np.testing.assert_allclose(judged[name].to_numpy(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("grouped", [False, True])
def test_out_of_fold_scores_equal_those_of_scikit_learn(grouped: bool) -> None:
    groups = [f"g{row // 4}" for row in range(120)] if grouped else None
    table = texts(half(120), 4, groups)
    judged, _ = judge(table, NO_ASIDE, settings(features="tfidf", permutations=1))
    splitter = StratifiedGroupKFold if grouped else StratifiedKFold
    expected = cross_val_predict(
        make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(max_iter=1000)
        ),
        table["text"].to_pylist(),
        table["label"].to_numpy(),
        groups=groups,
        cv=splitter(5, shuffle=True, random_state=derive(SEED, "blind folds", "d") % 2**32),
        method="decision_function",
    )
    np.testing.assert_allclose(judged["logistic_regression"].to_numpy(), expected, atol=1e-9)


def test_texts_of_unknown_label_are_judged_and_teach_nothing() -> None:
    words = {1: "recent", 0: "ancient", None: "recent"}
    table = texts([None, *half(80), None, None], 1, words=words)
    judged, found = judge(table, NO_ASIDE, settings(permutations=1))
    assert found["learned_from"] == {"members": 40, "nonmembers": 40}
    assert judged["text_id"] == table["text_id"]
    scores = judged["logistic_regression"].to_numpy()
    assert (scores[[0, 81, 82]] > 0).all() and (scores[41:81] < 0).all()


def test_the_step_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    files = {"texts": texts(half(60), 1), "aside": texts(half(200), 2)}
    for name, table in files.items():
        TEXTS.write(tmp_path / f"{name}.parquet", table, {"dataset": "d"})
    written = []
    for name in ("one", "two"):
        subprocess.run(
            [
                *[sys.executable, "-m", "scripts.blind", "--texts", tmp_path / "texts.parquet"],
                *["--aside", tmp_path / "aside.parquet", "--blind", tmp_path / name],
                *["--settings", json.dumps(settings(classifiers=ALL))],
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(len(written))},
            check=True,
        )
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert SCORES.read(tmp_path / "one").column_names == ["text_id", *ALL]
    footer = provenance(tmp_path / "one")
    assert (footer["baseline"], footer["learned_on"]) == ("bow_text", "aside")
    assert set(footer["inner_auc"]) == set(ALL)


@pytest.mark.parametrize(
    ("table", "aside", "changes", "message"),
    [
        (texts([1] * 30, 1), NO_ASIDE, {}, "dataset d: 30 members and 0 non-members with a label"),
        (
            texts([None] * 30, 1),
            NO_ASIDE,
            {},
            "dataset d: 0 members and 0 non-members with a label",
        ),
        (
            texts(half(30), 1).drop_columns("token_ids"),
            NO_ASIDE,
            {"on": "tokens"},
            "without token_ids, which baseline bow_text counts; take baselines on text instead",
        ),
        (
            texts(half(30), 1),
            texts(half(100), 2).drop_columns("token_ids"),
            {"on": "tokens"},
            "without token_ids",
        ),
        (texts(half(30), 1), NO_ASIDE, {"features": "glove", "on": "tokens"}, "works on text, not"),
        (
            texts(half(30), 1, ["a"] * 15 + [f"b{n}" for n in range(15)]),
            NO_ASIDE,
            {},
            "1 groups of members and 15 of non-members",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(
    table: pa.Table, aside: pa.Table, changes: dict, message: str
) -> None:
    with pytest.raises(UserError) as caught:
        judge(table, aside, settings(**changes))
    assert message in str(caught.value)
