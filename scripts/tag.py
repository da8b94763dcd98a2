"""Tag texts: sentences, ordered words, named entities; once for all models."""

import importlib
from collections.abc import Iterator, Sequence

import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.tags import TAGS
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.progress import bar
from scripts.tagging import released, tfidf
from scripts.tagging.sentences import Reader, Reading
from scripts.tagging.words import entropy, ranks

LANGUAGES = ("en", "zh")  # modules of scripts.tagging


def main() -> None:
    """Tag the texts of one dataset."""
    args = arguments(__doc__, ["texts", "tags"])
    language = args.settings["language"]
    texts = TEXTS.read(args.texts, ["text_id", "text"])
    reader = reader_of(language, args.settings)
    rows = tag(texts["text"].to_pylist(), language, reader)
    table = pa.table({"text_id": texts["text_id"].combine_chunks(), **_columns(rows)})
    provenance = {**args.settings, **reader.provenance}
    TAGS.write(args.tags, table.cast(TAGS.required), provenance)


def reader_of(language: str, settings: dict | None = None) -> Reader:
    """What reads texts of a language; UserError for one that no module of scripts.tagging knows."""
    if language not in LANGUAGES:
        raise UserError(f"tags: no language '{language}'; known: {', '.join(LANGUAGES)}")
    return importlib.import_module(f"scripts.tagging.{language}").Reader(settings or {})


def tag(texts: Sequence[str], language: str, reader: Reader) -> list[dict[str, object]]:
    """The columns of scripts.contracts.tags for each text, without its name."""
    progress = bar(reader.read(texts), what="tag", unit="text", total=len(texts))
    readings = list(progress)
    found_in = tfidf.texts_with(
        (word.normalised for sentence in reading.sentences for word in sentence.words)
        for reading in readings
    )
    rows = [_words(reading, language, found_in, len(texts)) for reading in readings]
    known = released.vocabulary(texts) if language == "en" else set()
    for row, text, reading in zip(rows, texts, readings, strict=True):
        keywords = list(_released(text, reading, known)) if language == "en" else []
        for name in released.Keyword._fields:
            row[f"released_{name}"] = [getattr(keyword, name) for keyword in keywords]
    return rows


def _words(reading: Reading, language: str, found_in, texts: int) -> dict[str, object]:
    """The number of sentences kept, words and entities of a text."""
    row: dict[str, object] = {"sentences": reading.kept}
    row |= {f"word_{name}": [] for name in ("sentence", "start", "end", "order", "tfidf_order")}
    row |= {f"entity_{name}": [] for name in ("sentence", "order", "start", "end")}
    for number, sentence in enumerate(reading.sentences):
        forms = [word.normalised for word in sentence.words]
        row["word_sentence"] += [number] * len(forms)
        row["word_start"] += [word.start for word in sentence.words]
        row["word_end"] += [word.end for word in sentence.words]
        row["word_order"] += ranks([entropy(form, language) for form in forms])
        weights = tfidf.weights(forms, found_in, texts)
        row["word_tfidf_order"] += ranks([-weight for weight in weights])
        for entity, start, end in sentence.entities:
            row["entity_sentence"].append(number)
            row["entity_order"].append(entity)
            row["entity_start"].append(start)
            row["entity_end"].append(end)
    return row


def _released(text: str, reading: Reading, known: set[str]) -> Iterator[released.Keyword]:
    """Keywords of the sentences that Tag&Tab's code keeps, in their order."""
    finder = released.Finder(text)
    for sentence in reading.sentences if reading.kept else ():
        words = text[sentence.start : sentence.end]
        if len(words.split()) <= released.LONGEST:
            entities = [text[start:end] for _, start, end in sentence.entities]
            for order, word in enumerate(released.lowest(words, entities, known, "en")):
                yield finder.find(order, word)


def _columns(rows: Sequence[dict[str, object]]) -> dict[str, pa.Array]:
    return {
        field.name: pa.array([row[field.name] for row in rows], field.type)
        for field in TAGS.required
        if field.name != "text_id"
    }


if __name__ == "__main__":
    run(main)
