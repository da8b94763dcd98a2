"""Character offsets of given ids: by hand, and against what the tokenizer says of its own."""

import random

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from scripts.extraction.offsets import Offsets

TEXTS = ["naïve café, 日本語 🙂 and so on", "", " a  b\n\nc", "🙂🙂", "½ — “quoted” text\t"]


@pytest.fixture(scope="module")
def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(["naïve café and so on " * 5], trainer)
    return tokenizer


@pytest.fixture(scope="module")
def metaspace():
    """As in LLaMA: unknown characters fall back to byte tokens."""
    vocabulary = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a"]
    tokenizer = Tokenizer(
        models.BPE(
            {token: i for i, token in enumerate(vocabulary)},
            [("▁", "a")],
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return tokenizer


@pytest.mark.parametrize("text", TEXTS)
def test_the_tokenizers_own_offsets(byte_level, text):
    encoding = byte_level.encode(text)
    start, end = Offsets(byte_level).find(encoding.ids, text)
    assert list(zip(start, end, strict=True)) == encoding.offsets


def test_part_of_a_character_covers_it_whole(byte_level):
    # 🙂 is F0 9F 99 82: four single-byte tokens between two letters.
    byte_token = {token: i for token, i in byte_level.get_vocab().items() if len(token) == 1}
    ids = [byte_token[c] for c in ("a", "ð", "Ł", "Ļ", "Ĥ", "b")]
    start, end = Offsets(byte_level).find(ids, "a🙂b")
    assert start.tolist() == [0, 1, 1, 1, 1, 2]
    assert end.tolist() == [1, 2, 2, 2, 2, 3]


def test_cut_characters_become_replacement_characters(byte_level):
    draw = random.Random(0)
    offsets = Offsets(byte_level)
    vocabulary = byte_level.get_vocab_size()
    for _ in range(200):
        ids = [draw.randrange(vocabulary) for _ in range(draw.randint(0, 12))]
        text = byte_level.decode(ids, skip_special_tokens=False)
        start, end = offsets.find(ids, text)
        assert (start <= end).all() and (np.diff(start) >= 0).all() and (np.diff(end) >= 0).all()
        # Every character belongs to a token.
        assert {c for s, e in zip(start, end, strict=True) for c in range(s, e)} == set(
            range(len(text))
        )


def test_special_tokens_count_as_text_or_as_nothing(byte_level):
    ids = [0, *byte_level.encode("so on").ids, 0]
    start, end = Offsets(byte_level).find(ids, "<|end|>so on<|end|>")
    assert (start[0], end[0], start[-1], end[-1]) == (0, 7, 12, 19)
    start, end = Offsets(byte_level).find(ids, "so on")
    assert (start[0], end[0], start[-1], end[-1]) == (0, 0, 5, 5)


def test_byte_fallback(metaspace):
    encoding = metaspace.encode("a é a")
    start, end = Offsets(metaspace).find(encoding.ids, "a é a")
    assert encoding.tokens == ["a", "▁", "<0xC3>", "<0xA9>", "▁a"]
    assert start.tolist() == [0, 1, 2, 2, 3] and end.tolist() == [1, 2, 3, 3, 5]
    start, end = Offsets(metaspace).find([1, *encoding.ids], "a é a")
    assert start.tolist() == [0, 0, 1, 2, 2, 3]


def test_other_texts_and_unknown_ids_are_not_found(byte_level):
    offsets = Offsets(byte_level)
    assert offsets.find(byte_level.encode("so on").ids, "so off") is None
    assert offsets.find([byte_level.get_vocab_size()], "x") is None
