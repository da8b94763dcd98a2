"""DC-PDD: how surely the model predicts tokens that are rare elsewhere.

The mean, over the first occurrence of each token id in the text, of

    min(a, p(x_t) log(1 / q(x_t)))

with p the model's probability and q the token's frequency in a reference corpus, smoothed by
Laplace: q(v) = (count(v) + 1) / (N + V), N tokens counted in all, V the size of the vocabulary. The
counts are those of the dataset's rows aside, which no attack is judged on (the paper: 15 files of
C4); `a` caps what a single token can add. The text's first token has no log-prob and is left out.

Source: Zhang et al. 2024 (arXiv 2409.14781), a = 0.01. Its code smooths the
frequencies and then reads the raw counts: `reading=released` is min(a, p log(1 / count)), at most
0 for a token that was counted and `a` for one that was not, and lower for surer and for more
frequent tokens. (The code negates its mean and calls lower member; higher is member here.)
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scripts.attacks.batch import Batch, choose, run_means, run_starts


class First(NamedTuple):
    """First occurrences of token ids in their texts, text by text."""

    text: np.ndarray  # int64 [m]
    token: np.ndarray  # int64 [m], the id
    probability: np.ndarray  # float64 [m], the model's


@lru_cache(maxsize=1)
def first_occurrences(batch: Batch) -> First:
    """The first occurrence of every token id in every text; kept for all settings."""
    ids, vocabulary = batch["token_id"], len(batch.counts)
    if ids.values.max(initial=-1) >= vocabulary:
        raise ValueError(f"token id {ids.values.max()} beyond the {vocabulary} that were counted")
    # One sort of (text, id, place) in one number: np.unique, which has to keep order, is slower.
    length = ids.lengths.max()
    place = np.arange(len(ids.values)) - ids.offsets[:-1][ids.rows]
    keys = np.sort((ids.rows * vocabulary + ids.values) * length + place)
    pairs, place = np.divmod(keys[run_starts(keys // length)], length)
    text, token = np.divmod(pairs, vocabulary)
    return First(text, token, np.exp(batch["logprob"].values[ids.offsets[text] + place]))


def score(batch: Batch, *, a: float, reading: str = "paper") -> np.ndarray:
    """Mean of the capped terms, float64 [n]."""
    choose(reading=(reading, ("paper", "released")))
    first, counts = first_occurrences(batch), batch.counts
    if reading == "paper":
        surprise = -np.log((counts + 1) / (counts.sum() + len(counts)))
    else:
        with np.errstate(divide="ignore"):
            surprise = -np.log(counts)
    # A count of 0 is a surprise without end: the cap, also where p itself is 0 (0 times infinity).
    terms = np.full(len(first.token), float(a))
    finite = np.isfinite(surprise)[first.token]
    terms[finite] = np.minimum(a, first.probability[finite] * surprise[first.token[finite]])
    return run_means(terms, first.text)[0]
