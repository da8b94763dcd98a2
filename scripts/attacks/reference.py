"""Reference: how much likelier a text is to the model than to another one, L(x) - L_ref(x).

L is the mean log-prob per token where both models read the same tokens. Means per token of two
tokenizers cannot be compared: there both are per byte, the sum of the log-probs over the UTF-8
bytes of the characters that the model scored. A text that the reference does not score takes 0, as
if both found it as likely; it is counted.
Source: Carlini et al. 2021 (arXiv 2012.07805), with a smaller model as the reference; the
difference of losses as in MIMIR (Duan et al. 2024, arXiv 2402.07841). Some codes take the ratio,
and the target's tokenizer for both.
"""

from collections.abc import Sequence

import numpy as np

from scripts.attacks.batch import Batch, Reading, Scored
from scripts.attacks.pairing import pairs


def score(batch: Batch) -> Scored:
    """Difference in nats per token, or per byte, float64 [n]."""
    (reading,) = batch.references.values()  # the model that the registry entry names
    text, same, own, other = pairs(batch, reading)
    scores, missing = np.zeros(len(batch)), np.ones(len(batch), dtype=bool)
    missing[text] = False
    scores[text[same]] = (own.means() - other.means())[same]
    unlike = np.flatnonzero(~same)
    if len(unlike):
        places = text[unlike]
        texts = [batch.texts[place] for place in places]
        own, other = per_byte(batch, places, texts), per_byte(reading, unlike, texts)
        scores[places] = own - other
    return Scored(scores, missing)


def per_byte(columns: Batch | Reading, rows: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Log-prob of `rows` per byte of what their scored tokens cover of `texts`, float64."""
    sums = columns["logprob"].means() * columns["logprob"].lengths
    first, last = columns["start"].offsets[:-1], columns["end"].offsets[1:] - 1
    starts, ends = columns["start"].values[first], columns["end"].values[last]
    sizes = [
        # A token inside a character covers none of its own.
        max(1, len(text[starts[row] : ends[row]].encode()))
        for row, text in zip(rows, texts, strict=True)
    ]
    return sums[rows] / np.array(sizes, dtype=np.float64)
