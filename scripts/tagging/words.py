"""Words of a sentence, the lowest "entropy" first, as Tag&Tab picks its keywords."""

import re
import string
from collections.abc import Sequence
from functools import cache
from math import log2

from wordfreq import word_frequency

from scripts.tagging.sentences import Word

# What stands between white space, from its first letter or digit to its last.
WORD = re.compile(r"[^\W_](?:\S*[^\W_])?")

_DROP_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(word: str) -> str:
    """Lower case, without ASCII punctuation."""
    return word.lower().translate(_DROP_PUNCTUATION)


@cache
def entropy(normalised: str, language: str) -> float:
    """H(w) = -p log2 p in bits, p the frequency of the word in `language`; 0 for an unknown word.

    Tag&Tab, section 3. No word is so frequent (p > 1/e) that H falls again: the lowest H is the
    rarest word.
    """
    p = word_frequency(normalised, language)
    return -p * log2(p) if p else 0.0


def words(text: str, start: int, end: int) -> list[Word]:
    """The words of text[start:end], as they stand; every occurrence counts by itself.

    A word that is at most one character once normalised is no keyword and is left out.
    """
    found = (Word(*m.span(), normalise(m.group())) for m in WORD.finditer(text, start, end))
    return [word for word in found if len(word.normalised) > 1]


def ranks(values: Sequence[float]) -> list[int]:
    """The rank of each value from the lowest, 0, up; ties go by position."""
    ranked = [0] * len(values)
    for rank, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        ranked[i] = rank
    return ranked
