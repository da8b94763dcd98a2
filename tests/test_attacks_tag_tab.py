"""Tag&Tab: hand-computed values, and a search over characters on random texts and tokens."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.attacks import tag_tab
from scripts.attacks.batch import Batch, Ragged
from scripts.errors import UserError


def batch(tokens, words, entities) -> Batch:
    """One text per item: tokens (start, end, logprob); words and entities (sentence, start, end, order)."""

    def columns(rows, names):
        cells = [[[row[i] for row in text] for text in rows] for i in range(len(names))]
        return {
            name: Ragged.from_rows([np.array(row, np.int64) for row in text])
            for name, text in zip(names, cells, strict=True)
        }

    spans = columns(tokens, ["start", "end"])
    logprob = Ragged.from_rows([[float(token[2]) for token in text] for text in tokens])
    parts = ("sentence", "start", "end", "order")
    return Batch(
        text_ids=[str(i) for i in range(len(tokens))],
        columns={**spans, "logprob": logprob},
        tags={
            **columns(words, [f"word_{part}" for part in parts]),
            **columns(entities, [f"entity_{part}" for part in parts]),
        },
    )


# 0         1         2
# 0123456789012345678901234
# Old Lincoln spoke. We sat.      the first token, "Old", has no log-prob
TOKENS = [
    (3, 6, -1.0),  # " Li": with its leading space
    (6, 11, -2.0),  # "ncoln"
    (12, 17, -4.0),  # "spoke": without
    (17, 18, -8.0),  # "."
    (18, 21, -16.0),  # " We"
    (21, 23, -32.0),  # " s"
    (23, 25, -64.0),  # "at"
]
# Sentence 0: spoke < Lincoln < Old; sentence 1: sat < We.
WORDS = [(0, 0, 3, 2), (0, 4, 11, 1), (0, 12, 17, 0), (1, 19, 21, 1), (1, 22, 25, 0)]
LINCOLN = [(0, 4, 11, 0)]


@pytest.mark.parametrize(
    ("k", "tokens", "pool", "entities", "expected"),
    [
        # spoke: -4; sat: (-32 - 64) / 2 = -48; mean of the sentences
        (1, "all", "sentences", [], (-4 - 48) / 2),
        # the same three tokens pooled
        (1, "all", "text", [], (-4 - 32 - 64) / 3),
        # spoke and Lincoln: (-4 - 1 - 2) / 3; sat and We: (-32 - 64 - 16) / 3
        (2, "all", "sentences", [], (-7 / 3 - 112 / 3) / 2),
        # Old has no scored token: the first sentence stays as it was, the second has no third word
        (3, "all", "sentences", [], (-7 / 3 - 112 / 3) / 2),
        # the entity joins at k = 1; at k = 2 it is a keyword already and counts once
        (1, "all", "sentences", LINCOLN, (-7 / 3 - 48) / 2),
        (2, "all", "sentences", LINCOLN, (-7 / 3 - 112 / 3) / 2),
        # first tokens: spoke -4, sat -32, Lincoln -1, We -16
        (1, "first", "sentences", [], (-4 - 32) / 2),
        (2, "first", "sentences", [], (-5 / 2 - 48 / 2) / 2),
        (2, "first", "text", [], (-4 - 1 - 32 - 16) / 4),
        (1, "first", "sentences", LINCOLN, (-5 / 2 - 32) / 2),
    ],
)
def test_hand_computed(k, tokens, pool, entities, expected):
    result = tag_tab.score(batch([TOKENS], [WORDS], [entities]), k=k, tokens=tokens, pool=pool)
    np.testing.assert_allclose(result.scores, [expected], rtol=1e-15)
    assert not result.fallback.any()


def test_all_tokens_and_sentence_means_are_the_default():
    example = batch([TOKENS], [WORDS], [[]])
    expected = tag_tab.score(example, k=2, tokens="all", pool="sentences").scores
    assert tag_tab.score(example, k=2).scores == expected


@pytest.mark.parametrize(
    ("k", "words", "expected"),
    [
        # the lowest word of each sentence: spoke -4, sat -48
        (1, "entropy", (-4 - 48) / 2),
        # the first entity of each sentence: Lincoln (-1 - 2) / 2, none in the second
        (1, "entities", -1.5),
        # "spoke" as a second entity joins at k = 2
        (2, "entities", (-1 - 2 - 4) / 3),
    ],
)
def test_parts_of_the_keywords(k, words, expected):
    example = batch([TOKENS], [WORDS], [[*LINCOLN, (0, 12, 17, 1)]])
    np.testing.assert_allclose(tag_tab.score(example, k=k, words=words).scores, [expected])


def test_words_by_tfidf():
    # Old > Lincoln > spoke; We > sat. k = 1: Old has no scored token, We -16; k = 2: Lincoln joins
    # with (-1 - 2) / 2 and sat, (-16 - 32 - 64) / 3.
    example = batch([TOKENS], [WORDS], [LINCOLN])
    order = Ragged.from_rows([np.array([0, 1, 2, 0, 1])])
    example = replace(example, tags={**example.tags, "word_tfidf_order": order})
    assert tag_tab.score(example, k=1, words="tfidf").scores == -16.0
    np.testing.assert_allclose(
        tag_tab.score(example, k=2, words="tfidf").scores, [(-1.5 - 112 / 3) / 2]
    )


def test_a_token_across_two_keywords_counts_once_in_a_sentence_and_in_each_sentence():
    # "to-day": one token over both words of sentence 0
    once = batch([[(0, 6, -1.0), (6, 9, -3.0)]], [[(0, 0, 2, 0), (0, 3, 6, 1), (0, 7, 9, 2)]], [[]])
    assert tag_tab.score(once, k=3).scores == (-1 - 3) / 2
    # the same token over the last word of sentence 0 and the first of sentence 1
    twice = batch(
        [[(0, 6, -1.0), (6, 9, -3.0)]], [[(0, 0, 2, 0), (1, 3, 6, 0), (1, 7, 9, 1)]], [[]]
    )
    assert tag_tab.score(twice, k=2).scores == (-1 + (-1 - 3) / 2) / 2


def test_a_text_without_keyword_tokens_takes_its_loss_and_is_counted():
    # text 0 has no words, text 1 a word that no scored token touches, text 2 a keyword at -5
    tokens = [[(0, 2, -1.0), (2, 4, -2.0)], [(0, 2, -3.0)], [(0, 2, -5.0), (2, 4, -7.0)]]
    words = [[], [(0, 2, 4, 0)], [(0, 0, 2, 0)]]
    result = tag_tab.score(batch(tokens, words, [[], [], []]), k=1)
    assert result.scores.tolist() == [-1.5, -3.0, -5.0]
    assert result.fallback.tolist() == [True, True, False]


def test_the_first_token_of_a_keyword_must_be_scored():
    # "Lincoln" at 0 to 7: its first token "Linc" is the text's first and has no log-prob.
    tokens, words = [[(4, 7, -1.0), (8, 11, -2.0)]], [[(0, 0, 7, 0), (0, 8, 11, 1)]]
    example = batch(tokens, words, [[]])
    assert tag_tab.score(example, k=1, tokens="all").scores == -1.0
    assert tag_tab.score(example, k=2, tokens="first").scores == -2.0
    assert tag_tab.score(example, k=1, tokens="first").fallback.tolist() == [True]


def test_special_tokens_belong_to_no_word():
    tokens = [[(0, 3, -1.0), (1, 1, -9.0), (3, 6, -2.0), (0, 0, -9.0)]]
    assert tag_tab.score(batch(tokens, [[(0, 0, 6, 0)]], [[]]), k=1).scores == -1.5


def test_offsets_that_go_backwards_are_refused():
    tokens = [[(3, 6, -1.0), (0, 3, -2.0)]]
    with pytest.raises(ValueError, match="backwards"):
        tag_tab.score(batch(tokens, [[(0, 0, 6, 0)]], [[]]), k=1)


@pytest.mark.parametrize("parameters", [{"tokens": "last"}, {"pool": "words"}, {"words": "all"}])
def test_an_unknown_choice_is_refused(parameters):
    with pytest.raises(UserError, match="valid are"):
        tag_tab.score(batch([TOKENS], [WORDS], [[]]), k=1, **parameters)


def search_characters(tokens, words, entities, k, which, pool):
    """The definition, read literally: sets of characters, one sentence at a time."""
    sentences = []
    for sentence in range(5):
        keywords = [w for w in words if w[0] == sentence and w[3] < k]
        keywords += [e for e in entities if e[0] == sentence]
        chosen = set()
        for _, start, end, _ in keywords:
            letters = set(range(start, end))
            own = [i for i, token in enumerate(tokens) if letters & set(range(*token[:2]))]
            if which == "first":
                own = [i for i in own[:1] if tokens[i][0] <= start]
            chosen.update(own)
        if chosen:
            sentences.append([tokens[i][2] for i in sorted(chosen)])
    if not sentences:
        return np.mean([token[2] for token in tokens])
    if pool == "text":
        return np.mean(np.concatenate(sentences))
    return np.mean([np.mean(values) for values in sentences])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.sampled_from([1, 2, 3, 4, 12]),
    which=st.sampled_from(["all", "first"]),
    pool=st.sampled_from(["sentences", "text"]),
)
def test_equals_a_search_over_characters(seed, k, which, pool):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(4):
        text = "".join(rng.choice(list("ab  "), size=rng.integers(4, 40)))
        cuts = np.unique(rng.integers(0, len(text), size=rng.integers(1, 15)))
        tokens = [
            (int(a), int(b), float(rng.normal()))
            for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)
        ]
        matches = list(re.finditer(r"\S+", text))
        sentence = np.sort(rng.integers(0, 5, size=len(matches)))
        words = []
        for s in range(5):
            own = [m.span() for m, t in zip(matches, sentence, strict=True) if s == t]
            orders = rng.permutation(len(own)).tolist()
            words += [(s, *span, order) for span, order in zip(own, orders, strict=True)]
        entities = [(*word[:3], 0) for word in words if rng.random() < 0.2]
        texts.append((tokens, words, entities))
    result = tag_tab.score(batch(*zip(*texts, strict=True)), k=k, tokens=which, pool=pool)
    expected = [search_characters(*text, k, which, pool) for text in texts]
    np.testing.assert_allclose(result.scores, expected, rtol=1e-12)
