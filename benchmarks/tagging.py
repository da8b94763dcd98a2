"""CPU seconds of tagging against the full spaCy pipeline on each text and each sentence again.

    OMP_NUM_THREADS=1 python -m benchmarks.tagging [documents]

That double pass, one text and one sentence at a time, is what Tag&Tab's released code does. The
texts are 512 words of speeches. The bar: at least three times as fast, with identical entities in
the same sentences.
"""

import sys
import time

import spacy

from scripts.lab.sotu import speeches
from scripts.tag import reader_of, tag
from scripts.tagging.en import kept, splitter
from scripts.tagging.pipeline import MODELS
from scripts.tagging.sentences import Spans
from scripts.tagging.words import WORD

WORDS = 512
BAR = 3.0


def main() -> None:
    """Time both ways on the same documents and compare their entities."""
    texts = documents(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
    reader = reader_of("en")
    start = time.process_time()
    ours = [_entities(row) for row in tag(texts, "en", reader)]
    seconds = time.process_time() - start
    full = spacy.load(next(name for name in MODELS if spacy.util.is_package(name)))
    split = splitter()
    sentences = [kept(text, split(text)) for text in texts]
    start = time.process_time()
    theirs = [double_pass(full, text, spans) for text, spans in zip(texts, sentences, strict=True)]
    seconds_of_loop = time.process_time() - start
    ratio, words = seconds_of_loop / seconds, len(texts) * WORDS
    same = [set(a) == set(b) for a, b in zip(ours, theirs, strict=True)]
    print(f"ours {words / seconds:.0f} words/s, double pass {words / seconds_of_loop:.0f} words/s")
    print(f"{ratio:.1f} times as fast (bar {BAR:g}) {'ok' if ratio >= BAR else 'TOO SLOW'}")
    print(f"{sum(map(len, ours))} words of entities, identical in {sum(same)} of {len(same)} texts")


def _entities(row: dict) -> list[tuple[int, int, int, int]]:
    names = (f"entity_{name}" for name in ("sentence", "start", "end", "order"))
    return list(zip(*(row[name] for name in names), strict=True))


def documents(count: int) -> list[str]:
    """The first 512 words of `count` State of the Union speeches, spread over the years."""
    found = speeches(1)
    chosen = found[:: max(1, len(found) // count)][:count]
    return [" ".join(speech.text.split()[:WORDS]) for speech in chosen]


def double_pass(
    nlp: spacy.language.Language, text: str, sentences: Spans
) -> list[tuple[int, int, int, int]]:
    """Entities by the full pipeline, on the whole text (for its sentences) and on each sentence.

    `sentences` are ours, so that both ways look for entities in the same places.
    """
    nlp(text)
    return [
        (sentence, start + match.start(), start + match.end(), order)
        for sentence, (start, end) in enumerate(sentences)
        for order, entity in enumerate(nlp(text[start:end]).ents)
        for match in WORD.finditer(text[start:end], entity.start_char, entity.end_char)
    ]


if __name__ == "__main__":
    main()
