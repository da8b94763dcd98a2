"""Chinese: sentences by their marks, words by jieba, names by its part-of-speech tags.

There is no entity recogniser here: a word that jieba tags as the name of a person (nr), a place
(ns), an organisation (nt) or something else (nz) stands for a named entity of one word. Tag&Tab
(Antebi et al. 2025, appendix A.4) gives no details of its own tagging of Chinese.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

import jieba
import jieba.posseg

from scripts.tagging.sentences import SHORTEST, Reading, Sentence, Spans, Word
from scripts.tagging.words import WORD, normalise

PACKAGES = ("jieba", "wordfreq")
NAMES = ("nr", "ns", "nt", "nz")
QUIET = 60  # above every level of logging

# Up to the marks that end a sentence and the quotes and brackets that close with it.
SENTENCE = re.compile(r"[^。！？!?；;…\n]+[。！？!?；;…]*[”’」』）)】》]*")


class Reader:
    """Cuts sentences into tagged words."""

    def __init__(self, settings: Mapping[str, object]):
        jieba.setLogLevel(QUIET)
        self._tagger = jieba.posseg.POSTokenizer(jieba.Tokenizer())
        self.provenance = {
            "ner": f"jieba.posseg {', '.join(NAMES)}",
            "packages": {name: version(name) for name in PACKAGES},
        }

    def read(self, texts: Sequence[str]) -> Iterator[Reading]:
        """What is in each text."""
        for text in texts:
            sentences = [self._sentence(text, start, end) for start, end in split(text)]
            kept = [sentence for sentence in sentences if len(sentence.words) >= SHORTEST]
            yield Reading(len(kept), kept or [self._sentence(text, 0, len(text))])

    def _sentence(self, text: str, start: int, end: int) -> Sentence:
        words, entities, place = [], [], start
        for piece, tag in self._tagger.cut(text[start:end]):  # loses no character
            match = WORD.search(text, place, place + len(piece))
            place += len(piece)
            normalised = normalise(match.group()) if match else ""
            # One character may be a word, but a single letter or digit is none.
            if normalised and (len(normalised) > 1 or not normalised.isascii()):
                words.append(Word(*match.span(), normalised))
                if tag[:2] in NAMES:
                    entities.append((len(entities), *match.span()))
        return Sentence(start, end, words, entities)


def split(text: str) -> Spans:
    """The (start, end) of the sentences of a text, without white space around."""
    spans = []
    for match in SENTENCE.finditer(text):
        found = match.group()
        start = match.start() + len(found) - len(found.lstrip())
        if found.strip():
            spans.append((start, start + len(found.strip())))
    return spans
