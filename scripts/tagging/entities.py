"""Named entities of sentences, by spaCy."""

from collections.abc import Iterable, Iterator, Sequence

from spacy.language import Language

from scripts.tagging.pipeline import load
from scripts.tagging.words import WORD

BATCH = 256  # sentences


def recogniser(names: Sequence[str]) -> Language:
    """The first installed model of `names`, with its entity recogniser and what that listens to."""
    return load(names, ["ner"])


def entities(nlp: Language, sentences: Iterable[str]) -> Iterator[list[tuple[int, int, int]]]:
    """For each sentence (order, start, end) of the words of its entities, characters in it.

    `order` counts the entities of the sentence. A word stands between white space and runs from
    its first letter or digit to its last; pieces without any are left out.
    """
    for document in nlp.pipe(sentences, batch_size=BATCH):
        yield [
            (order, *match.span())
            for order, entity in enumerate(document.ents)
            for match in WORD.finditer(document.text, entity.start_char, entity.end_char)
        ]
