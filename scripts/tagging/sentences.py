"""What tagging reads out of a text, in any language: sentences, their words and entities."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

# Tag&Tab, section 4.3: sentences with fewer than seven words are excluded.
SHORTEST = 7

Spans = list[tuple[int, int]]


class Word(NamedTuple):
    """A word of a sentence; `start` and `end` are characters of the text."""

    start: int
    end: int
    normalised: str


class Sentence(NamedTuple):
    """A sentence, its words and entities as they stand; places are characters of the text."""

    start: int
    end: int
    words: list[Word]
    entities: list[tuple[int, int, int]]  # (entity of the sentence, start, end) of each its words


class Reading(NamedTuple):
    """The sentences of seven words or more; where there is none, the whole text as one."""

    kept: int  # how many have seven words
    sentences: list[Sentence]


class Reader(Protocol):
    """One language: scripts.tagging.en, scripts.tagging.zh."""

    provenance: dict[str, object]

    def read(self, texts: Sequence[str]) -> Iterator[Reading]:
        """What is in each text."""
