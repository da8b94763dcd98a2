"""Tag&Tab: the mean log-prob of the keywords of a text.

Keywords of a sentence: its k words of the lowest entropy H(w) = -p(w) log2 p(w), and the words of
its named entities; both tagged once per dataset (scripts.tag). Sentences have seven words or more;
a text without any counts as one sentence. A keyword's tokens are those that share a character with
it; within a sentence a token counts once, however many keywords it belongs to.

Source: Antebi et al. 2025, "Tag&Tab". The paper describes two scores. Its method section takes the
first token of each keyword and the mean over sentences of the sentences' means; its experiments
take all tokens of the keywords (section 4.3), and its code pools the tokens of the whole text.
`tokens` (all or first) and `pool` (sentences or text) choose; the default is all tokens, mean of
sentence means. `words` takes the parts by themselves as in its Table 3: `entropy` (the k words) or
`entities` (the first k entities of each sentence) instead of `both`.

Keywords without a scored token are skipped; a text that has none left takes its mean log-prob
(Loss), and is counted.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scripts.attacks.batch import Batch, Scored, means_or_loss, run_means, run_starts
from scripts.errors import UserError


class Spans(NamedTuple):
    """Words, or words of entities, of all texts; int64 [spans] each, characters of the text."""

    text: np.ndarray
    sentence: np.ndarray
    start: np.ndarray
    end: np.ndarray
    rank: np.ndarray  # a keyword where rank <= k


class Keyed(NamedTuple):
    """Tokens that belong to a keyword for some k, each once per sentence, in the text's order."""

    logprob: np.ndarray  # float64 [m]
    sentence: np.ndarray  # int64 [m], a number that no other sentence of the batch has
    text: np.ndarray  # int64 [m]
    rank: np.ndarray  # int64 [m], a keyword token where rank <= k; 0 in an entity


def score(
    batch: Batch, *, k: int, tokens: str = "all", pool: str = "sentences", words: str = "both"
) -> Scored:
    """Mean log-prob of the keywords in nats, float64 [n], and the texts that took their Loss."""
    for name, value, valid in (
        ("tokens", tokens, ("all", "first")),
        ("pool", pool, ("sentences", "text")),
        ("words", words, ("both", "entropy", "entities")),
    ):
        if value not in valid:
            raise UserError(f"{name}={value}: valid are {', '.join(valid)}")
    # In tens, so that k = 1 … 10 share one search and skip the words that none of them takes.
    keyed = keyed_tokens(batch, tokens, words, deepest=-(-k // 10) * 10)
    chosen = np.flatnonzero(keyed.rank <= k)
    values = keyed.logprob[chosen]
    if pool == "sentences":
        values, starts = run_means(values, keyed.sentence[chosen])
        chosen = chosen[starts]
    return means_or_loss(batch, values, keyed.text[chosen])


@lru_cache(maxsize=2)
def keyed_tokens(batch: Batch, tokens: str, words: str, deepest: int) -> Keyed:
    """The (sentence, token) pairs of the words and entities of rank <= `deepest` in a batch."""
    spans = _keywords(batch, words)
    wanted = spans.rank <= deepest
    spans = Spans(*(column[wanted] for column in spans))
    token, span = _overlaps(batch, spans, first_only=tokens == "first")

    # One key per pair, so that a sort brings equal pairs together, the smallest rank first.
    sentences = spans.text * (spans.sentence.max(initial=0) + 1) + spans.sentence
    ranks, all_tokens = spans.rank.max(initial=0) + 1, len(batch["logprob"].values)
    keys = (sentences[span] * all_tokens + token) * ranks + spans.rank[span]
    keys.sort()
    pair, rank = np.divmod(keys, ranks)
    once = run_starts(pair)
    sentence, token = np.divmod(pair[once], all_tokens)
    return Keyed(batch["logprob"].values[token], sentence, batch["logprob"].rows[token], rank[once])


def _keywords(batch: Batch, words: str) -> Spans:
    low, entities = _spans(batch, "word"), _spans(batch, "entity")
    if words == "entropy":
        return low
    if words == "entities":
        return entities
    # Beside the words, every entity is a keyword for any k.
    entities = entities._replace(rank=np.zeros_like(entities.rank))
    return Spans(*(np.concatenate(both) for both in zip(low, entities, strict=True)))


def _spans(batch: Batch, kind: str) -> Spans:
    sentence, start, end, order = (
        batch.tags[f"{kind}_{name}"] for name in ("sentence", "start", "end", "order")
    )
    return Spans(order.rows, sentence.values, start.values, end.values, order.values + 1)


def _overlaps(batch: Batch, spans: Spans, first_only: bool) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (token, span) that share a character; tokens count through the whole batch.

    With `first_only` each span is paired with its first token alone, or with none where that token
    has no log-prob: the first scored token then begins inside the span.
    """
    starts, ends = batch["start"], batch["end"]
    real = np.flatnonzero(ends.values > starts.values)  # special tokens have no characters
    # Places count through all texts, so that one search serves them all.
    stride = max(ends.values.max(), spans.end.max(initial=0)) + 1
    texts = starts.rows * stride
    token_starts, token_ends = (texts + starts.values)[real], (texts + ends.values)[real]
    if np.any(np.diff(token_starts) < 0) or np.any(np.diff(token_ends) < 0):
        raise ValueError("the character offsets of tokens go backwards")
    start, end = spans.text * stride + spans.start, spans.text * stride + spans.end
    first = np.searchsorted(token_ends, start, side="right")
    counts = np.maximum(np.searchsorted(token_starts, end, side="left") - first, 0)
    if first_only:
        begins = np.append(token_starts, end.max(initial=0))[first]
        counts = np.minimum(counts, begins <= start)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return real[np.repeat(first, counts) + within], np.repeat(np.arange(len(start)), counts)
