"""SaMIA: how much of a text's second part stands in what the model writes behind the first.

The mean, over the samples, of ROUGE-n recall: the share of the second part's n-grams of words that
the sample has too, each as often as it stands there. `form=zlib` weights every sample's recall with
the compressed bytes of its words (SaMIA*zlib), since repetitive samples hit by chance. Words are
what white space parts. Where the second part has no n-gram the score is 0; it is counted.
Source: Kaneko et al. 2024 (arXiv 2404.11262) and its released code: n = 1, 10 samples of top_k 50
behind half the text. How samples are drawn here stands in config.yaml (`generation`).
"""

import zlib
from collections import Counter

import numpy as np

from scripts.attacks.batch import Batch, Scored, choose
from scripts.errors import UserError


def score(batch: Batch, *, n: int, samples: int, form: str = "recall") -> Scored:
    """Mean recall of the first `samples` samples, 0 to 1 (times bytes for zlib), float64 [n]."""
    choose(form=(form, ("recall", "zlib")))
    drawn = min(map(len, batch.samples))
    if not 0 < samples <= drawn:
        raise UserError(f"samples={samples}: 1 to {drawn} are drawn; config.yaml: generation")
    scores, none = np.zeros(len(batch)), np.zeros(len(batch), dtype=bool)
    for row, (target, texts) in enumerate(zip(batch.targets, batch.samples, strict=True)):
        wanted = ngrams(target.split(), n)
        none[row] = not wanted
        if wanted:
            scores[row] = np.mean([_recall(wanted, text, n, form) for text in texts[:samples]])
    return Scored(scores, none)


def _recall(wanted: Counter, text: str, n: int, form: str) -> float:
    words = text.split()
    recall = (wanted & ngrams(words, n)).total() / wanted.total()
    return recall * (len(zlib.compress(" ".join(words).encode())) if form == "zlib" else 1)


def ngrams(words: list[str], n: int) -> Counter:
    """How often each run of n words stands in `words`."""
    return Counter(zip(*(words[shift:] for shift in range(n)), strict=False))
