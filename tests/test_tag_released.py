"""What Tag&Tab's own code picks as keywords, and where it finds them."""

import pytest

from scripts.tag import reader_of, tag
from scripts.tagging import released
from scripts.tagging.words import entropy

SPEECH = "He agreed. The Senate of the United States voted against the treaty of 1868 by far."


@pytest.fixture(scope="module")
def english():
    return reader_of("en")


def test_unknown_words_first_duplicates_counted_and_nine_at_most():
    # Twelve words; eleven, as "xqzzvkw" stands twice. The ten lowest count it twice, so the set
    # has nine; an entity that is no word of the sentence comes last, and is cut off.
    sentence = "Xqzzvkw the of and to xqzzvkw! in that is was for it"
    order = sorted(
        ["the", "of", "and", "to", "in", "that", "is", "was", "for", "it"],
        key=lambda w: entropy(w, "en"),
    )
    known = released.vocabulary([sentence])
    found = released.lowest(sentence, ["Elsewhere"], known, "en")
    assert found == ["xqzzvkw", *order[:8]]


def test_an_entity_gets_in_where_there_is_room():
    known = released.vocabulary(["we saw Xqzzvkw-town"])
    # "town" alone is no word of the dataset: last. Its whole word is unknown to wordfreq: first.
    assert released.lowest("we saw Xqzzvkw-town", ["town"], known, "en") == [
        "xqzzvkwtown",
        "saw",
        "we",
        "town",
    ]


@pytest.mark.parametrize(
    ("text", "word", "spaced", "joined"),
    [
        # Inside an earlier word.
        ("We start art.", "art", (5, 8), (5, 8)),
        # Across a border of words, where pieces have none.
        ("He a dry head", "head", (9, 13), (0, 6)),
        # Punctuation inside a word is skipped, and covered.
        ("Don't.", "dont", (0, 5), (0, 5)),
        # Byte-level pieces of other letters look different.
        ("the café", "café", (-1, -1), (4, 8)),
        # A new line is spelt as a byte.
        ("he\nad head", "head", (6, 10), (6, 10)),
    ],
)
def test_first_hits(text, word, spaced, joined):
    found = released.Finder(text).find(0, word)
    assert (found.start, found.end) == spaced
    assert (found.joined_start, found.joined_end) == joined


def test_sentences_of_more_than_forty_words_are_left_out(english):
    long = " ".join(["The senate voted against the treaty"] * 7) + "."
    assert len(long.split()) == 42
    row, other = tag([long, SPEECH], "en", english)
    assert row["sentences"] == 1 and row["released_order"] == []
    assert other["released_order"] == list(range(9))
