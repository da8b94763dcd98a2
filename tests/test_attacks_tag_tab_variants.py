"""Tag&Tab with random words, and as its released code computes it."""

from itertools import combinations

import numpy as np
import pytest

from scripts.attacks import tag_tab, tag_tab_random, tag_tab_released
from scripts.attacks.batch import Batch, Ragged
from scripts.errors import UserError


def ragged(rows) -> Ragged:
    return Ragged.from_rows([np.array(row, np.int64) for row in rows])


def batch(tokens, words, released=(), seed=0) -> Batch:
    """One text per item: tokens (start, end, logprob), words (sentence, start, end), released
    keywords (order, start, end, joined_start, joined_end)."""
    names = {"word": ("sentence", "start", "end"), "entity": ("sentence", "start", "end", "order")}
    names["released"] = ("order", "start", "end", "joined_start", "joined_end")
    rows = {"word": words, "entity": [[]] * len(tokens)}
    rows["released"] = released or [[]] * len(tokens)
    tags = {
        f"{kind}_{name}": ragged([[row[i] for row in text] for text in rows[kind]])
        for kind, columns in names.items()
        for i, name in enumerate(columns)
    }
    tags["word_order"] = ragged([list(range(len(text))) for text in words])
    return Batch(
        text_ids=[f"text {i}" for i in range(len(tokens))],
        columns={
            "logprob": Ragged.from_rows([[float(t[2]) for t in text] for text in tokens]),
            "start": ragged([[t[0] for t in text] for text in tokens]),
            "end": ragged([[t[1] for t in text] for text in tokens]),
        },
        tags=tags,
        seed=seed,
    )


# Sentence 0: words of one token, -1, -2, -4; sentence 1: -8 and (-16, -32).
TOKENS = [(0, 1, -1.0), (1, 3, -2.0), (3, 5, -4.0), (5, 7, -8.0), (7, 9, -16.0), (9, 11, -32.0)]
WORDS = [(0, 0, 1), (0, 2, 3), (0, 4, 5), (1, 6, 7), (1, 8, 11)]


def sentence_means(k: int) -> set[float]:
    """Every score that one draw of k words of each sentence can give."""
    first, second = [[-1.0], [-2.0], [-4.0]], [[-8.0], [-16.0, -32.0]]
    means = [
        {np.mean(np.concatenate(chosen)) for chosen in combinations(words, min(k, len(words)))}
        for words in (first, second)
    ]
    return {(a + b) / 2 for a in means[0] for b in means[1]}


@pytest.mark.parametrize("k", [1, 2])
def test_a_draw_takes_k_words_of_each_sentence(k):
    found = {
        round(
            float(tag_tab_random.score(batch([TOKENS], [WORDS], seed=seed), k=k, draws=1)[0][0]), 9
        )
        for seed in range(60)
    }
    assert found == {round(value, 9) for value in sentence_means(k)}


def test_more_words_than_there_are_are_all_words():
    # all tokens of both sentences, as Tag&Tab at a k that takes every word
    example = batch([TOKENS], [WORDS])
    expected = tag_tab.score(example, k=5, words="entropy").scores
    assert tag_tab_random.score(example, k=5, draws=3).scores == pytest.approx(expected)
    assert expected == pytest.approx([(-7 / 3 - 56 / 3) / 2])


def test_many_draws_come_near_their_mean():
    # k = 1: the mean over words of each sentence, (-7 / 3 + (-8 - 24) / 2) / 2 = -9.1667. One draw
    # has a variance of (14 / 9 + 64) / 4 = 16.4, 4000 draws a standard error of 0.064.
    score = tag_tab_random.score(batch([TOKENS], [WORDS]), k=1, draws=4000).scores
    assert score == pytest.approx([-9.1667], abs=4 * 0.064)


def test_a_token_of_two_drawn_words_counts_once():
    # one token over both words of sentence 0, the same over a word of sentence 1
    example = batch([[(0, 6, -1.0), (6, 9, -3.0)]], [[(0, 0, 2), (0, 3, 5), (0, 7, 9), (1, 5, 6)]])
    assert tag_tab_random.score(example, k=3, draws=2).scores == pytest.approx([(-2 - 1) / 2])


def test_a_draw_without_a_scored_token_counts_as_the_loss():
    # Of two words one lies before the first scored token: either draw gives -3 or the Loss, -5.
    tokens = [[(4, 5, -3.0), (5, 6, -7.0)]]
    scores, falls = set(), []
    for seed in range(40):
        result = tag_tab_random.score(
            batch(tokens, [[(0, 0, 2), (0, 4, 5)]], seed=seed), k=1, draws=2
        )
        scores.add(float(result.scores[0]))
        falls.append(bool(result.fallback[0]))
    assert scores == {-3.0, -4.0, -5.0}
    assert any(falls) and not all(falls)


# 0123456789012345678
# We saw art in Arta.
PIECES = [
    (0, 2, -1.0),
    (2, 6, -2.0),
    (6, 10, -4.0),
    (10, 13, -8.0),
    (13, 17, -16.0),
    (17, 18, -32.0),
]
# art, arta (its first hit as one word), we; places where pieces are joined are elsewhere.
HITS = [(0, 7, 10, 3, 6), (1, 14, 18, 14, 18), (2, 0, 2, -1, -1)]


@pytest.mark.parametrize(
    ("k", "tokens", "expected"),
    [
        # With a start token: in step, hits of joined pieces. "art" at 3 to 6 is " saw".
        (1, "all", -2.0),
        (2, "all", (-2 - 16 - 32) / 3),
        (2, "first", (-2 - 16) / 2),
        # the third is not found
        (3, "all", (-2 - 16 - 32) / 3),
    ],
)
def test_released_with_a_start_token(k, tokens, expected):
    result = tag_tab_released.score(batch([PIECES], [[]], [HITS]), k=k, tokens=tokens)
    assert result.scores == pytest.approx([expected])


@pytest.mark.parametrize(
    ("k", "tokens", "expected"),
    [
        # Without one, "We" has no log-prob and every keyword reads the token behind its own:
        # "art" that of " in"; "arta" that of "a", then none; "we" that of " saw".
        (1, "all", -8.0),
        (2, "all", (-8 - 32) / 2),
        (3, "all", (-8 - 32 - 2) / 3),
        (3, "first", (-8 - 32 - 2) / 3),
    ],
)
def test_released_without_a_start_token(k, tokens, expected):
    result = tag_tab_released.score(batch([PIECES[1:]], [[]], [HITS]), k=k, tokens=tokens)
    assert result.scores == pytest.approx([expected])


def test_released_counts_a_keyword_of_two_sentences_twice():
    hits = [(0, 7, 10, 7, 10), (1, 0, 2, 0, 2), (0, 7, 10, 7, 10)]
    # -4 twice, and -1
    result = tag_tab_released.score(batch([PIECES], [[]], [hits]), k=2)
    assert result.scores == pytest.approx([-3.0])


def test_released_texts_mix_and_those_without_a_hit_take_their_loss():
    tokens = [PIECES, PIECES[1:], [(0, 2, -5.0), (2, 3, -7.0)], [(2, 3, -9.0)]]
    released = [HITS, HITS, [], [(0, 2, 3, 2, 3)]]
    result = tag_tab_released.score(batch(tokens, [[]] * 4, released), k=1)
    # The last text's keyword is its last token, and no log-prob lies behind that.
    assert result.scores.tolist() == [-2.0, -8.0, -6.0, -9.0]
    assert result.fallback.tolist() == [False, False, True, True]


def test_released_has_nine_keywords():
    with pytest.raises(UserError, match="k=10: .* 1 to 9"):
        tag_tab_released.score(batch([PIECES], [[]], [HITS]), k=10)
