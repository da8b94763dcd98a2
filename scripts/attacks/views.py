"""What attacks share that compare a text with other readings of it: rewritten, or behind a prefix.

Such an attack takes the view that its registry entry names, so that one file serves neighbours of
any origin and prefixes of any length.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scripts.attacks.batch import Batch, Ragged, Reading, Scored, run_means

# Smallest loss in a denominator, nats per token: a text that the model is certain of has loss 0.
SMALLEST_LOSS = 1e-6


def difference(own: np.ndarray, others: np.ndarray, text: np.ndarray) -> Scored:
    """`own` statistic of each text minus the mean of its variants, float64 [n].

    `others` are the variants' statistics, `text` the text of each, ascending. A text without
    variants counts as its own: it scores 0, and is counted.
    """
    means, starts = run_means(others, text)
    scores, fallback = np.zeros(len(own)), np.ones(len(own), dtype=bool)
    found = text[starts]
    scores[found] = own[found] - means
    fallback[found] = False
    return Scored(scores, fallback)


def ratio(other: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Loss in another reading over the text's own, from mean log-probs in nats; float64 [n]."""
    return -other / np.maximum(-own, SMALLEST_LOSS)


class Aligned(NamedTuple):
    """Log-probs of the tokens that two passes scored, and of those that the second one scored."""

    own: Ragged
    other: Ragged
    more: Ragged  # with the text's first token, where only the second pass could score it


@lru_cache(maxsize=2)
def aligned(batch: Batch, view: Reading) -> Aligned:
    """The tokens that the plain pass and a pass behind a prefix have both scored.

    Behind a prefix the first token of a text has a log-prob, which the plain pass gives only to
    tokenizers that put a token in front; and either pass may have read less of a long text.
    ValueError where the view does not hold every text once, with the same tokens. Kept, so that
    all settings share it.
    """
    if not np.array_equal(view.text, np.arange(len(batch))):
        raise ValueError("the view does not hold every text once")
    spans = [
        _common(name, own, other)
        for name, own, other in zip(
            batch.text_ids, _rows(batch["token_id"]), _rows(view["token_id"]), strict=True
        )
    ]
    skipped, lengths = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    starts = view["logprob"].offsets[:-1]
    return Aligned(
        own=cut(batch["logprob"], batch["logprob"].offsets[:-1], lengths),
        other=cut(view["logprob"], starts + skipped, lengths),
        more=cut(view["logprob"], starts, skipped + lengths),
    )


def _rows(ragged: Ragged) -> list[np.ndarray]:
    return np.split(ragged.values, ragged.offsets[1:-1])


def _common(name: str, own: np.ndarray, other: np.ndarray) -> tuple[int, int]:
    """How many tokens of `other` stand before the first of `own`, and how many both have then."""
    # Where every token is the same, only the lengths tell.
    for skipped in (1, 0) if len(other) > len(own) else (0, 1):
        length = min(len(own), len(other) - skipped)
        if length and np.array_equal(own[:length], other[skipped : skipped + length]):
            return skipped, length
    raise ValueError(f"text '{name}' has other tokens behind its prefix")


def cut(ragged: Ragged, starts: np.ndarray, lengths: np.ndarray) -> Ragged:
    """The row ``ragged.values[starts[i] : starts[i] + lengths[i]]`` for each i."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return Ragged(ragged.values[places], offsets)
