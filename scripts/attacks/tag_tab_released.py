"""Tag&Tab as its released code computes it, which is not what the paper says.

A flat mean over the log-probs of keyword tokens of the whole text. Reproduced (code of 2025-09):

* Sentences of 7 to 40 words. Of each, the ten words of the lowest entropy H, duplicates counted,
  then made a set; the words of named entities join it; the union is sorted by H again and cut to
  nine, so that entities hardly ever get in. A word that wordfreq does not know has H = 0 and comes
  first. Keywords are the first k of the nine; more than nine cannot be had.
* A keyword's tokens are those of its first hit anywhere in the text, also inside other words; a
  keyword of two sentences counts the same tokens twice.
* Tokenizers without a start token (GPT-NeoX) read one token too far: the code's log-probs begin at
  the second token, its tokens at the first. Tokenizers with one (LLaMA) are in step. Which of the
  two it is shows in the statistics: without a start token, a text's first token has no log-prob.
* With the former, non-ASCII words are never found (byte-level pieces look different); with the
  latter pieces have no word borders, so that hits cross them.

`tokens` is `all` or `first` (the columns AT and FT; the published BookMIA table has the former, the
Pile table the latter). Not reproduced: sentences come from Punkt, not from spaCy's parser (one
split serves both readings); ties of H go by position, where the code's follow Python's hash seed,
another order in every run; the text is not cut to 2,048 tokens, decoded with its start token and
encoded again (that would be another pass); no AUC under 0.5 is turned over. A text without a hit,
which the code leaves out of the evaluation, takes its mean log-prob (Loss), and is counted.
The published LLaMA numbers come from older code still (entropy on the evaluated texts).
Source: the repository of Antebi et al. 2025, "Tag&Tab"; its tags are made in
scripts.tagging.released.
"""

from functools import lru_cache

import numpy as np

from scripts.attacks.batch import Batch, Ragged, Scored, choose, means_or_loss
from scripts.attacks.tag_tab import Spans, overlaps
from scripts.contracts.tags import RELEASED_KEYWORDS
from scripts.errors import UserError


def score(batch: Batch, *, k: int, tokens: str = "all") -> Scored:
    """Mean log-prob of the keywords in nats, float64 [n], and the texts that took their Loss."""
    choose(tokens=(tokens, ("all", "first")))
    if not 1 <= k <= RELEASED_KEYWORDS:
        raise UserError(f"k={k}: the released code takes 1 to {RELEASED_KEYWORDS} keywords")
    values, text, order = keyword_logprobs(batch, tokens == "first")
    chosen = order < k
    return means_or_loss(batch, values[chosen], text[chosen])


@lru_cache(maxsize=2)
def keyword_logprobs(batch: Batch, first_only: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-prob, text and keyword order of every token of every keyword, text by text."""
    logprob, starts = batch["logprob"], batch["start"]
    late = starts.values[logprob.offsets[:-1]] > 0  # no start token: the first has no log-prob
    # The code's tokens: in these texts one more, before the scored ones.
    extra = late.astype(np.int64)
    offsets = logprob.offsets + np.concatenate([[0], np.cumsum(extra)])
    scored = np.ones(offsets[-1], bool)
    scored[offsets[:-1][late]] = False
    columns = {}
    for name in ("start", "end"):
        values = np.zeros(len(scored), np.int64)
        values[scored] = batch[name].values
        columns[name] = values
    columns["end"][~scored] = starts.values[logprob.offsets[:-1][late]]
    theirs = Batch(
        batch.text_ids, {name: Ragged(values, offsets) for name, values in columns.items()}
    )

    spans = _hits(batch, late)
    token, span = overlaps(theirs, spans, first_only)
    text = spans.text[span]
    place = token - offsets[text]
    there = place < logprob.lengths[text]  # one too far is beyond the text's end
    values = logprob.values[(logprob.offsets[text] + place)[there]]
    return values, text[there], spans.rank[span][there]


def _hits(batch: Batch, late: np.ndarray) -> Spans:
    """First hits of all keywords, in the pieces that the tokenizer of a text seems to have."""
    order, start, end, joined_start, joined_end = (
        batch.tags[f"released_{name}"]
        for name in ("order", "start", "end", "joined_start", "joined_end")
    )
    spaced = late[order.rows]
    start = np.where(spaced, start.values, joined_start.values)
    end = np.where(spaced, end.values, joined_end.values)
    hit = end > start
    columns = order.rows, np.zeros_like(start), start, end, order.values
    return Spans(*(column[hit] for column in columns))
