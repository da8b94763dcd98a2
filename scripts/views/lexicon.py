"""Words of a text that WordNet has other words for, of the same part of speech.

spaCy says which part of speech a word is of. Only base forms are taken (singular nouns, infinitives
and present verbs, positive adjectives and adverbs), so that the other word fits without inflection,
and only other words that are one word; stop words stay. Which sense of a word is the most common is
what WordNet counted in a tagged corpus. WordNet 3.0 comes in the package wn (Princeton's licence).
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import wn
from spacy.language import Language
from spacy.tokens import Token

from scripts.progress import bar
from scripts.tagging.pipeline import MODELS, load

# Penn tags of base forms, with the universal part of speech (auxiliaries are no verbs there) and
# WordNet's letters for it.
FORMS = {
    ("NN", "NOUN"): "n",
    ("VB", "VERB"): "v",
    ("VBP", "VERB"): "v",
    ("JJ", "ADJ"): "as",
    ("RB", "ADV"): "r",
}
BATCH = 256  # texts


class Slot(NamedTuple):
    """A word at characters `start` to `end`, and what could stand there instead.

    `others` are ordered by sense, the most common first, and there by how often they are used.
    """

    start: int
    end: int
    others: list[str]


class Lexicon:
    """WordNet and a tagger; `senses` is how many of a word's most common senses count, None all."""

    def __init__(self, senses: int | None):
        self._senses = senses
        self._nlp, self._wordnet = _tagger(), _wordnet()
        self._others = cache(self._look_up)

    def slots(self, texts: Sequence[str], what: str) -> Iterator[list[Slot]]:
        """For each text its words that have others, in their order."""
        documents = self._nlp.pipe(texts, batch_size=BATCH)
        for document in bar(documents, what=what, unit="text", total=len(texts)):
            found = (
                Slot(token.idx, token.idx + len(token), self._for(token)) for token in document
            )
            yield [slot for slot in found if slot.others]

    def _for(self, token: Token) -> list[str]:
        letters = FORMS.get((token.tag_, token.pos_))
        if letters is None or token.is_stop or not token.text.isalpha():
            return []
        others = self._others(token.text.lower(), letters)
        if token.i and token.nbor(-1).lower_ in ("a", "an"):
            vowel = _vowel(token.text)
            others = [other for other in others if _vowel(other) == vowel]
        return [_cased(token.text, other) for other in others]

    def _look_up(self, word: str, letters: str) -> list[str]:
        """Other words in the senses of `word`, the most common sense first; none if inflected."""
        synsets = [s for letter in letters for s in self._wordnet.synsets(word, letter)]
        uses = [{lemma.name(): lemma.count() for lemma in s.lemmas()} for s in synsets]
        senses = sorted((use for use in uses if word in use), key=lambda use: -use[word])
        names = dict.fromkeys(
            name
            for use in senses[: self._senses]
            for name in sorted(use, key=use.__getitem__, reverse=True)
        )
        return [name for name in names if name != word and name.isalpha() and name.islower()]


def put(text: str, chosen: Sequence[tuple[Slot, str]]) -> str:
    """`text` with a word in the place of each slot; slots do not overlap."""
    pieces, end = [], 0
    for slot, word in sorted(chosen):
        pieces += [text[end : slot.start], word]
        end = slot.end
    return "".join([*pieces, text[end:]])


@cache
def _tagger() -> Language:
    return load(MODELS, ["tagger", "attribute_ruler"])


@cache
def _wordnet() -> wn.WordNet:
    return wn.WordNet()


def _vowel(word: str) -> bool:
    return word[0].lower() in "aeiou"


def _cased(like: str, word: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word
