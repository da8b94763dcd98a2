"""Words of a sentence, the lowest "entropy" first, as Tag&Tab picks its keywords."""

import re
import string
from functools import cache
from math import log2

from wordfreq import word_frequency

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


def ordered(text: str, start: int, end: int, language: str) -> list[tuple[int, int, int]]:
    """(start, end, order) of the words in text[start:end], as they stand; order 0 = lowest entropy.

    Every occurrence counts by itself; ties go by position. A word that is at most one character
    once normalised is no keyword and is left out.
    """
    words = []
    for match in WORD.finditer(text, start, end):
        normalised = normalise(match.group())
        if len(normalised) > 1:
            words.append((entropy(normalised, language), *match.span()))
    order = [0] * len(words)
    for rank, i in enumerate(sorted(range(len(words)), key=words.__getitem__)):
        order[i] = rank
    return [(*word[1:], rank) for word, rank in zip(words, order, strict=True)]
