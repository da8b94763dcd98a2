"""Tag&Tab: the mean log-prob of the keywords of a text.

Keywords of a sentence: its k words of the lowest entropy H(w) = -p(w) log2 p(w), and the words of
its named entities; both tagged once per dataset (scripts.tag). Sentences have seven words or more;
a text without any counts as one sentence. A keyword's tokens are those that share a character with
it; within a sentence a token counts once, however many keywords it belongs to.

Source: Antebi et al. 2025, "Tag&Tab". The paper describes two scores. Its method section takes the
first token of each keyword and the mean over sentences of the sentences' means; its experiments
take all tokens of the keywords (section 4.3), and its code pools the tokens of the whole text.
`tokens` (all or first) and `pool` (sentences or text) choose; the default is all tokens, mean of
sentence means. `words` takes others instead of `both`, as in its Table 3: `entropy` (the k words),
`entities` (the first k entities of each sentence) or `tfidf` (the k words of the highest TF-IDF).
scripts.attacks.tag_tab_released is what the code computes.

Keywords without a scored token are skipped; a text that has none left takes its mean log-prob
(Loss), and is counted.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scripts.attacks.batch import Batch, Scored, choose, means_or_loss, run_starts


class Spans(NamedTuple):
    """Words, or words of entities, of all texts; int64 [spans] each, characters of the text."""

    text: np.ndarray
    sentence: np.ndarray
    start: np.ndarray
    end: np.ndarray
    rank: np.ndarray  # a keyword where rank <= k


class Keyed(NamedTuple):
    """Tokens of keywords, each once in a sentence, added up for every k; columns are k = 0, 1, …"""

    sums: np.ndarray  # float64 [sentences, columns], of the log-probs
    counts: np.ndarray  # float64 [sentences, columns]
    text: np.ndarray  # int64 [sentences], ascending


def score(
    batch: Batch, *, k: int, tokens: str = "all", pool: str = "sentences", words: str = "both"
) -> Scored:
    """Mean log-prob of the keywords in nats, float64 [n], and the texts that took their Loss."""
    choose(
        tokens=(tokens, ("all", "first")),
        pool=(pool, ("sentences", "text")),
        words=(words, ("both", "entropy", "entities", "tfidf")),
    )
    # In tens, so that k = 1 … 10 share one search and skip the words that none of them takes.
    keyed = keyed_tokens(batch, tokens, words, deepest=-(-k // 10) * 10)
    column = min(k, keyed.counts.shape[1] - 1)
    sums, counts = keyed.sums[:, column], keyed.counts[:, column]
    some = np.flatnonzero(counts)
    sums, counts, text = sums[some], counts[some], keyed.text[some]
    if pool == "text" and len(text):
        starts = run_starts(text)
        sums, counts = np.add.reduceat(sums, starts), np.add.reduceat(counts, starts)
        text = text[starts]
    return means_or_loss(batch, sums / counts, text)


@lru_cache(maxsize=2)
def keyed_tokens(batch: Batch, tokens: str, words: str, deepest: int) -> Keyed:
    """The tokens of the words and entities of rank <= `deepest`."""
    spans = _keywords(batch, words)
    wanted = np.flatnonzero(spans.rank <= deepest)
    spans = Spans(*(column[wanted] for column in spans))
    token, span = overlaps(batch, spans, first_only=tokens == "first")

    # One key per pair, so that a sort brings equal pairs together, the smallest rank first.
    sentences = spans.text * (spans.sentence.max(initial=0) + 1) + spans.sentence
    ranks, all_tokens = spans.rank.max(initial=0) + 1, len(batch["logprob"].values)
    keys = (sentences[span] * all_tokens + token) * ranks + spans.rank[span]
    keys.sort()
    pair, rank = np.divmod(keys, ranks)
    once = run_starts(pair)
    sentence, token = np.divmod(pair[once], all_tokens)
    starts = run_starts(sentence)
    text = batch["logprob"].rows[token[starts]]
    cells = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(sentence)))) * ranks
    cells += rank[once]
    shape = len(starts), ranks
    sums = np.bincount(cells, batch["logprob"].values[token], minlength=len(starts) * ranks)
    counts = np.bincount(cells, minlength=len(starts) * ranks).astype(np.float64)
    return Keyed(sums.reshape(shape).cumsum(1), counts.reshape(shape).cumsum(1), text)


def _keywords(batch: Batch, words: str) -> Spans:
    if words == "tfidf":
        return spans_of(batch, "word", "tfidf_order")
    low, entities = spans_of(batch, "word"), spans_of(batch, "entity")
    if words == "entropy":
        return low
    if words == "entities":
        return entities
    # Beside the words, every entity is a keyword for any k.
    entities = entities._replace(rank=np.zeros_like(entities.rank))
    return Spans(*(np.concatenate(both) for both in zip(low, entities, strict=True)))


def spans_of(batch: Batch, kind: str, order: str = "order") -> Spans:
    """The tagged words (`kind` word or entity) of a batch, ranked from 1 by a column of orders."""
    sentence, start, end, place = (
        batch.tags[f"{kind}_{name}"] for name in ("sentence", "start", "end", order)
    )
    return Spans(place.rows, sentence.values, start.values, end.values, place.values + 1)


def overlaps(batch: Batch, spans: Spans, first_only: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (token, span) that share a character; tokens count through the whole batch.

    With `first_only` each span is paired with its first token alone, or with none where that token
    has no log-prob: the first scored token then begins inside the span.
    """
    stride, real, token_starts, token_ends = token_places(batch)
    # What a word has beyond the last token of its text must not reach into the next.
    start, end = (
        spans.text * stride + np.minimum(places, stride - 1) for places in (spans.start, spans.end)
    )
    first = np.searchsorted(token_ends, start, side="right")
    counts = np.maximum(np.searchsorted(token_starts, end, side="left") - first, 0)
    if first_only:
        begins = np.append(token_starts, end.max(initial=0))[first]
        counts = np.minimum(counts, begins <= start)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return real[np.repeat(first, counts) + within], np.repeat(np.arange(len(start)), counts)


@lru_cache(maxsize=1)
def token_places(batch: Batch) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Where tokens begin and end, counted through all texts, so that one search serves them all.

    Character c of text i is place ``i * stride + c``. Returns the stride, which tokens have any
    characters (special tokens have none), and where these begin and end.
    """
    starts, ends = batch["start"], batch["end"]
    stride = ends.values.max() + 1
    texts = starts.rows * stride
    real = np.flatnonzero(ends.values > starts.values)
    token_starts, token_ends = (texts + starts.values)[real], (texts + ends.values)[real]
    if np.any(token_starts[1:] < token_starts[:-1]) or np.any(token_ends[1:] < token_ends[:-1]):
        raise ValueError("the character offsets of tokens go backwards")
    return stride, real, token_starts, token_ends
