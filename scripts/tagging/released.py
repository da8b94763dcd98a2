"""The keywords of Tag&Tab's released code, and where it finds them in the text.

scripts.attacks.tag_tab_released says what that code does; this is what it needs of the texts.
"""

import re
import string
from collections.abc import Collection, Sequence
from typing import NamedTuple

from scripts.contracts.tags import RELEASED_KEYWORDS
from scripts.tagging.words import entropy

LONGEST = 40  # words of a sentence
LOWEST = 10  # words of the lowest entropy, before entities join them

ODD = "\uffff"  # stands for a letter that no keyword has

_DROPPED = str.maketrans("", "", string.punctuation)


class Keyword(NamedTuple):
    """A keyword of a sentence and its first hits in the text, (-1, -1) where there is none."""

    order: int  # 0 = lowest entropy in its sentence
    start: int  # characters of the text; pieces as a byte-level tokenizer has them
    end: int
    joined_start: int  # pieces as LLaMA's tokenizer has them
    joined_end: int


def normalise(word: str) -> str:
    """Lower case, without ASCII punctuation and white space."""
    return re.sub(r"\s+", "", word.lower().translate(_DROPPED))


def vocabulary(texts: Sequence[str]) -> set[str]:
    """The normalised words of all texts: entities that are none of them come last."""
    return {normalise(word) for text in texts for word in text.split()} - {""}


def lowest(
    sentence: str, entities: Sequence[str], known: Collection[str], language: str
) -> list[str]:
    """The keywords of a sentence, the lowest entropy first; ties go by position, entities last."""

    def key(word: str) -> float:
        return entropy(word, language) if word in known else float("inf")

    words = [word for word in map(normalise, sentence.split()) if word]
    union = sorted(words, key=key)[:LOWEST]
    union += [piece for entity in entities for piece in map(normalise, entity.split()) if piece]
    return sorted(dict.fromkeys(union), key=key)[:RELEASED_KEYWORDS]


class Finder:
    """Finds the first hit of a keyword in the normalised pieces of one text."""

    def __init__(self, text: str):
        self._pieces = [_pieces(text, byte_level) for byte_level in (True, False)]

    def find(self, order: int, word: str) -> Keyword:
        """The keyword `word` with its hits."""
        (start, end), (joined_start, joined_end) = (_hit(word, *own) for own in self._pieces)
        return Keyword(order, start, end, joined_start, joined_end)


def _pieces(text: str, byte_level: bool) -> tuple[str, list[int]]:
    """The normalised pieces of a text in a row, and the character behind each of their letters.

    Byte-level pieces spell white space and what is not ASCII in letters that no keyword has. In
    LLaMA's, white space vanishes, but for a new line, which is spelt as a byte.
    """
    letters, places = [], []
    for place, character in enumerate(text):
        if byte_level and (character.isspace() or not character.isascii()):
            letter = ODD
        elif character == "\n":
            letter = "0x0a"
        else:
            letter = normalise(character)
        letters.append(letter)
        places += [place] * len(letter)
    return "".join(letters), places


def _hit(word: str, letters: str, places: list[int]) -> tuple[int, int]:
    found = letters.find(word)
    return (-1, -1) if found < 0 else (places[found], places[found + len(word) - 1] + 1)
