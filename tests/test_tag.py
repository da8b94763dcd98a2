"""Tagging: sentences, ordered words and named entities, with their places in the text."""

import json
import subprocess
import sys
from math import log2
from pathlib import Path

import pyarrow as pa
import pytest
import spacy
from sklearn.feature_extraction.text import TfidfVectorizer

from scripts.contracts.table import provenance
from scripts.contracts.tags import TAGS
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.tag import reader_of, tag
from scripts.tagging import tfidf
from scripts.tagging.en import kept, splitter
from scripts.tagging.entities import entities, recogniser
from scripts.tagging.pipeline import MODELS
from scripts.tagging.words import entropy, normalise, ranks, words

ROOT = Path(__file__).parents[1]

SPEECH = (
    "On Monday, Mr. Lincoln met General Grant in Washington, D.C. to speak of peace. He agreed. "
    "The Senate of the United States, however, voted against the treaty of 1868 by a large majority!"
)


@pytest.fixture(scope="module")
def nlp():
    return recogniser(MODELS)


@pytest.fixture(scope="module")
def english():
    return reader_of("en")


def test_abbreviations_do_not_end_a_sentence():
    spans = splitter()(SPEECH)
    assert [SPEECH[start:end] for start, end in spans] == [
        "On Monday, Mr. Lincoln met General Grant in Washington, D.C. to speak of peace.",
        "He agreed.",
        SPEECH[SPEECH.index("The Senate") :],
    ]


def test_sentences_of_seven_words_are_kept():
    six, seven = "One two three four five six.", "One two three four five six seven."
    text = f"{six} {seven}"
    assert [text[a:b] for a, b in kept(text, splitter()(text))] == [seven]


def test_an_unknown_language_is_refused():
    with pytest.raises(UserError, match="language 'xx'; known: en, zh"):
        reader_of("xx")


def test_normalised_words():
    assert normalise("Don't") == "dont"
    assert normalise("SELF-evident") == "selfevident"


def test_entropy_of_a_word_is_minus_p_log_p():
    # wordfreq 3: the frequency of "the" in English is 0.0537.
    assert entropy("the", "en") == pytest.approx(-0.0537 * log2(0.0537), rel=1e-12)
    assert entropy("xqzzvkw", "en") == 0.0


def test_words_stand_in_order_of_the_text_with_the_rank_of_their_entropy():
    text = "We saw the xqzzvkw, I & (a) the vqqwzzx."
    # No keywords: I, &, a. Unknown words have H = 0 and come first, the earlier one before the
    # later; both "the" count, the earlier one first. wordfreq: saw < we < the.
    found = words(text, 0, len(text))
    orders = ranks([entropy(word.normalised, "en") for word in found])
    assert [(text[a:b], order) for (a, b, _), order in zip(found, orders, strict=True)] == [
        ("We", 3),
        ("saw", 2),
        ("the", 4),
        ("xqzzvkw", 0),
        ("the", 5),
        ("vqqwzzx", 1),
    ]


def test_words_of_a_sentence_stay_inside_it():
    text = "before inside here after"
    assert [text[a:b] for a, b, _ in words(text, 7, 18)] == ["inside", "here"]


def test_entities_equal_those_of_the_full_pipeline(nlp):
    # Its own pass of the whole pipeline over each sentence is how Tag&Tab does it.
    sentences = [SPEECH[a:b] for a, b in kept(SPEECH, splitter()(SPEECH))]
    full = spacy.load(next(name for name in MODELS if spacy.util.is_package(name)))
    expected = [
        [(i, word) for i, entity in enumerate(full(text).ents) for word in entity.text.split()]
        for text in sentences
    ]
    found = [
        [(order, text[a:b]) for order, a, b in pieces]
        for text, pieces in zip(sentences, entities(nlp, sentences), strict=True)
    ]
    assert sum(map(len, expected)) >= 8
    strip = [[(i, word.strip(",.")) for i, word in pieces] for pieces in expected]
    assert [[(i, word.strip(",.")) for i, word in pieces] for pieces in found] == strip


def test_a_missing_spacy_model_is_named():
    with pytest.raises(UserError, match="tried xx_one, xx_two.*pip install xx-two"):
        recogniser(["xx_one", "xx_two"])


def spans(row, kind):
    """(sentence, start, end, order) of the tagged words, or words of entities, of a text."""
    names = [f"{kind}_{name}" for name in ("sentence", "start", "end", "order")]
    return list(zip(*(row[name] for name in names), strict=True))


def test_places_are_those_of_the_text(english):
    (row,) = tag([SPEECH], "en", english)
    assert row["sentences"] == 2
    found = {SPEECH[a:b]: (sentence, order) for sentence, a, b, order in spans(row, "word")}
    assert found["Lincoln"][0] == 0
    assert found["treaty"][0] == 1
    assert "agreed" not in found  # its sentence has two words
    assert {"Lincoln", "Washington"} <= {SPEECH[a:b] for _, a, b, _ in spans(row, "entity")}
    for sentence in (0, 1):
        orders = [order for s, _, _, order in spans(row, "word") if s == sentence]
        assert sorted(orders) == list(range(len(orders)))


def test_a_text_without_a_long_sentence_counts_as_one(english):
    short, empty = tag(["We met. Lincoln spoke.", ""], "en", english)
    assert short["sentences"] == 0
    assert short["word_sentence"] == [0, 0, 0, 0]
    assert short["released_order"] == []  # the released code gives such a text no score
    assert (empty["sentences"], empty["word_start"], empty["entity_start"]) == (0, [], [])


def test_tfidf_is_scikit_learns():
    # Its smooth idf without normalisation, on the dataset's texts; tf is that of a sentence.
    texts = ["the cat saw the dog", "the dog", "a fox"]
    vectorizer = TfidfVectorizer(norm=None, token_pattern=r"\S+").fit(texts)
    expected = vectorizer.transform(["the cat saw the dog"]).toarray()[0]
    sentence = texts[0].split()
    found = tfidf.weights(sentence, tfidf.texts_with(text.split() for text in texts), 3)
    assert found == pytest.approx([expected[vectorizer.vocabulary_[w]] for w in sentence])


def test_the_order_by_tfidf_counts_texts(english):
    # idf = ln(4 / (1 + n)) + 1 for three texts: "red" in three of them 1, "cat" in two ln(4/3) + 1,
    # "two" (twice in the sentence) and "old" in one: ln 2 + 1, and twice that.
    texts = ["red cat two old two", "red cat", "red"]
    row = tag(texts, "en", english)[0]
    # two, two (by position), old, cat, red
    assert row["word_tfidf_order"] == [4, 3, 0, 2, 1]


def test_the_step_writes_the_contract_and_the_same_bytes(tmp_path):
    texts = pa.table(
        {"text_id": ["a", "b"], "text": [SPEECH, ""], "label": [1, 0], "group": ["g", "g"]},
        schema=TEXTS.required,
    )
    TEXTS.write(tmp_path / "texts.parquet", texts, {})
    written = []
    for name in ("one", "two"):
        command = [sys.executable, "-m", "scripts.tag", "--texts", str(tmp_path / "texts.parquet")]
        command += ["--tags", str(tmp_path / name), "--settings", json.dumps({"language": "en"})]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    table = TAGS.read(tmp_path / "one")
    assert table["text_id"].to_pylist() == ["a", "b"]
    assert table["sentences"].to_pylist() == [2, 0]
    assert table["word_start"].to_pylist()[1] == []
    footer = provenance(tmp_path / "one")
    assert footer["language"] == "en"
    assert footer["ner"].startswith("en_core_web_sm")
