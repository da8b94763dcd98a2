"""Swaps: copies of a text in which words changed places, for PAC.

max(1, floor(alpha * words)) times in a row, two words drawn at random change places; white space
stays where it is. A text with a single word has no copies.
Source: the released code of Ye et al. 2024 (PAC), where a drawn pair may be one word with itself.
"""

import re

import numpy as np
import pyarrow as pa

from scripts.seeds import generator
from scripts.views.tables import part, several

WORD = re.compile(r"\S+")


def rewrite(texts: pa.Table, aside: pa.Table, *, seed: int, n: int, alpha: float) -> pa.Table:
    """`n` copies of each text; `aside` is not used."""
    copies = []
    for name, text in zip(texts["text_id"].to_pylist(), texts["text"].to_pylist(), strict=True):
        rng = generator(seed, "swaps", name)
        several_words = len(WORD.findall(text)) > 1
        copies.append([swapped(text, alpha, rng) for _ in range(n)] if several_words else [])
    return several(texts, copies)


def swapped(text: str, alpha: float, rng: np.random.Generator) -> str:
    """`text`, of two words or more, with pairs of words exchanged."""
    words = WORD.findall(text)
    for _ in range(part(alpha, len(words))):
        first, second = rng.choice(len(words), size=2, replace=False)
        words[first], words[second] = words[second], words[first]
    rest = iter(words)
    return WORD.sub(lambda _: next(rest), text)
