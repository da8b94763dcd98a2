"""Tag&Tab with k random words of each sentence instead of its keywords.

Every word of a sentence is as likely; entities do not count. The score is as in Tag&Tab (all tokens
of the words, mean of sentence means), averaged over `draws` draws, each text with draws of its own.
In a draw that finds no scored token the text takes its Loss; it is counted where all draws do.
Source: the baseline of Antebi et al. 2025, "Tag&Tab", Figure 3. Its code draws k tokens of the
whole text instead, once and unseeded, which is a noisier baseline than the method that it is for.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scripts.attacks.batch import Batch, Scored, means_or_loss, run_means, run_starts
from scripts.attacks.tag_tab import overlaps, spans_of
from scripts.seeds import generator


class Pairs(NamedTuple):
    """Words and the scored tokens that share a character with them, in the order of the text."""

    word: np.ndarray  # int64 [m], the word's place in the batch
    token: np.ndarray  # int64 [m]
    sentence: np.ndarray  # int64 [m], a number that no other sentence of the batch has


def score(batch: Batch, *, k: int, draws: int) -> Scored:
    """Mean log-prob of the drawn words in nats, float64 [n], and the texts that took their Loss."""
    pairs, sentences = word_tokens(batch), sentence_numbers(batch)
    results = [
        _score(batch, pairs, np.flatnonzero(words[pairs.word]))
        for words in _drawn(batch, sentences, k, draws)
    ]
    # Added draw by draw: numpy's order of a mean over an axis depends on how many texts there are.
    scores = sum(result.scores for result in results) / draws
    return Scored(scores, np.all([result.fallback for result in results], axis=0))


def _score(batch: Batch, pairs: Pairs, chosen: np.ndarray) -> Scored:
    token, sentence = pairs.token[chosen], pairs.sentence[chosen]
    # A token that belongs to two drawn words of a sentence counts once, as in Tag&Tab.
    new = np.append(True, (token[1:] != token[:-1]) | (sentence[1:] != sentence[:-1]))[: len(token)]
    token, sentence = token[new], sentence[new]
    values, starts = run_means(batch["logprob"].values[token], sentence)
    return means_or_loss(batch, values, batch["logprob"].rows[token[starts]])


@lru_cache(maxsize=1)
def word_tokens(batch: Batch) -> Pairs:
    """All pairs of a word and one of its tokens."""
    token, word = overlaps(batch, spans_of(batch, "word"))
    return Pairs(word, token, sentence_numbers(batch)[word])


@lru_cache(maxsize=1)
def sentence_numbers(batch: Batch) -> np.ndarray:
    """The sentence of each word, numbered through the batch, ascending: int64 [words]."""
    sentence = batch.tags["word_sentence"]
    new = np.diff(sentence.values, prepend=-1) != 0
    new |= np.diff(sentence.rows, prepend=-1) != 0
    return np.cumsum(new)


def _drawn(batch: Batch, sentences: np.ndarray, k: int, draws: int) -> np.ndarray:
    """Whether a draw takes a word, bool [draws, words]: k of each sentence, or all it has.

    The first k steps of a Fisher-Yates shuffle of each sentence.
    """
    starts = run_starts(sentences)
    lengths = np.diff(np.append(starts, len(sentences)))
    of_texts = np.searchsorted(starts, batch.tags["word_sentence"].offsets)
    chances = np.empty((draws, len(starts), k))
    for i, text_id in enumerate(batch.text_ids):
        own = slice(of_texts[i], of_texts[i + 1])
        rng = generator(batch.seed, "tag_tab_random", text_id)
        chances[:, own] = rng.random((draws, own.stop - own.start, k))
    order = np.tile(np.arange(len(sentences), dtype=np.int32), (draws, 1))
    taken = np.zeros(order.shape, dtype=bool)
    draw = np.arange(draws)[:, None]
    for step in range(k):
        left = np.flatnonzero(lengths > step)
        here = starts[left] + step
        there = here + (chances[:, left, step] * (lengths[left] - step)).astype(np.int64)
        word = order[draw, there]
        order[draw, there] = order[:, here]
        taken[draw, word] = True
    return taken
