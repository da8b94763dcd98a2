"""Words replaced out of WordNet: which, by what, how many; synonyms and the stand-in neighbours."""

from collections import Counter

import pyarrow as pa
import pytest

from scripts.contracts.texts import TEXTS
from scripts.views import synonyms, word_neighbours
from scripts.views.lexicon import Lexicon, Slot, put

# Windows as in the lab, cut in the middle of sentences; the last has no word to replace.
SENTENCES = [
    "The Nation has no doubt that a free people should allow peaceful commerce to flourish.",
    "They sleep peacefully on a small, quiet hill and desire liberty.",
    "An increase in the price of labor will help every family. GREAT changes were made in 1903.",
    "of the of and 1776",
]


@pytest.fixture(scope="module")
def most_common():
    return Lexicon(senses=1)


@pytest.fixture(scope="module")
def all_senses():
    return Lexicon(senses=None)


def found(lexicon: Lexicon, text: str) -> dict[str, list[str]]:
    (slots,) = lexicon.slots([text], "test")
    return {text[slot.start : slot.end]: slot.others for slot in slots}


def test_others_are_of_the_words_part_of_speech(all_senses):
    # WordNet 3.0: desire.v shares senses with want, hope and trust; desire.n with no other word.
    assert set(found(all_senses, "We desire liberty.")["desire"]) == {"want", "hope", "trust"}
    assert "desire" not in found(all_senses, "The desire grew.")


def test_the_most_common_sense_comes_first(most_common, all_senses):
    text = "They lost a nation and its land."
    common = found(most_common, text)["nation"]
    # WordNet 3.0, nation.n sense 1: state, nation, country, land, commonwealth, res publica, …
    assert set(common) == {"state", "country", "land", "commonwealth"}
    assert found(all_senses, text)["nation"][: len(common)] == common


def test_inflected_words_names_stop_words_and_numbers_stay(all_senses):
    kept = {"changes", "made", "were", "The", "has", "1903", "1776", "of", "and", "should"}
    for text in SENTENCES:
        assert not kept & set(found(all_senses, text))


def test_case_and_article_fit_the_place(all_senses):
    assert found(all_senses, "Freedom is dear, they said.")["Freedom"] == ["Exemption"]
    # WordNet 3.0, increase.n: addition, gain, growth, increment.
    free = found(all_senses, "It was the increase.")["increase"]
    assert set(free) == {"addition", "gain", "growth", "increment"}
    assert set(found(all_senses, "It was an increase.")["increase"]) == {"addition", "increment"}


def test_put_replaces_by_place():
    slots = [Slot(4, 7, ["dog"]), Slot(0, 3, ["A"])]
    assert put("The cat sat", [(slots[0], "dog"), (slots[1], "A")]) == "A dog sat"
    assert put("The cat sat", []) == "The cat sat"


def table(strings: list[str]) -> pa.Table:
    names = [f"t{i}" for i in range(len(strings))]
    columns = {"text_id": names, "text": strings, "label": [1] * len(names), "group": names}
    return pa.table(columns, schema=TEXTS.required)


def changed(text: str, other: str) -> int:
    pairs = zip(text.split(), other.split(), strict=True)
    return sum(a != b for a, b in pairs)


def test_two_to_five_words_become_synonyms():
    texts = table(SENTENCES * 20).set_column(0, "text_id", pa.array([str(i) for i in range(80)]))
    rewritten = synonyms.rewrite(texts, texts, seed=1, least=2, most=5)
    assert rewritten.drop_columns(["text"]) == texts.drop_columns(["text"])
    pairs = list(zip(texts["text"].to_pylist(), rewritten["text"].to_pylist(), strict=True))
    numbers = Counter(changed(*pair) for pair in pairs if pair[0] != SENTENCES[3])
    assert set(numbers) == {2, 3, 4, 5}
    assert {other for text, other in pairs if text == SENTENCES[3]} == {SENTENCES[3]}
    alone = synonyms.rewrite(texts.slice(5, 1), texts, seed=1, least=2, most=5)
    assert alone["text"][0].as_py() == pairs[5][1]


def test_word_neighbours_differ_in_a_share_of_their_words():
    texts = table(SENTENCES)
    rewritten = word_neighbours.rewrite(texts, texts, seed=1, n=6, share=0.15)
    TEXTS.check(rewritten)
    assert Counter(rewritten["text_id"].to_pylist()) == {"t0": 6, "t1": 6, "t2": 6}
    for row in rewritten.to_pylist():
        text = SENTENCES[int(row["text_id"][1:])]
        # floor(0.15 * words): 2 of 15, at least 1 of 11, 2 of 17.
        assert changed(text, row["text"]) == max(1, int(0.15 * len(text.split())))
    assert len(set(rewritten["text"].to_pylist())) == 18
    again = word_neighbours.rewrite(texts.take([2, 0]), texts, seed=1, n=6, share=0.15)
    assert sorted(again["text"].to_pylist()) == sorted(
        row["text"] for row in rewritten.to_pylist() if row["text_id"] != "t1"
    )


def test_a_text_with_few_words_has_few_neighbours():
    texts = table(["an increase"])
    rewritten = word_neighbours.rewrite(texts, texts, seed=1, n=50, share=0.05)
    assert sorted(rewritten["text"].to_pylist()) == ["an addition", "an increment"]
