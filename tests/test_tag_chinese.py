"""Chinese: sentences, words and names, and the tokens of keywords in byte-level BPE."""

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from scripts.attacks import tag_tab
from scripts.attacks.batch import Batch, Ragged
from scripts.contracts.tags import TAGS
from scripts.extraction.encoding import encode
from scripts.tag import reader_of, tag
from scripts.tagging.zh import split

TEXT = (
    "马云在杭州创办了一家公司，叫做阿里巴巴。很好！“本发明公开了一种用于北京地铁的控制方法。” OK？"
)


@pytest.fixture(scope="module")
def chinese():
    return reader_of("zh")


@pytest.fixture(scope="module")
def row(chinese):
    return tag([TEXT], "zh", chinese)[0]


def test_sentences_end_with_their_marks_and_quotes():
    assert [TEXT[a:b] for a, b in split(TEXT)] == [
        "马云在杭州创办了一家公司，叫做阿里巴巴。",
        "很好！",
        "“本发明公开了一种用于北京地铁的控制方法。”",
        "OK？",
    ]
    assert split(" \n。！\n ") == []


def test_words_are_jiebas_and_short_sentences_do_not_count(row):
    assert row["sentences"] == 2
    words = [TEXT[a:b] for a, b in zip(row["word_start"], row["word_end"], strict=True)]
    assert {"马云", "杭州", "创办", "公司", "控制", "方法"} <= set(words)
    assert not set(words) & {"，", "。", "“", "”", "很", "好", "OK"}
    # The rarest word of the first sentence is less frequent in wordfreq than 公司 (company).
    order = dict(zip(words, row["word_order"], strict=True))
    assert order["马云"] < order["公司"] < order["在"]


def test_names_stand_for_entities(row):
    names = [TEXT[a:b] for a, b in zip(row["entity_start"], row["entity_end"], strict=True)]
    assert {"马云", "杭州", "阿里巴巴", "北京地铁"} <= set(names)
    assert "公司" not in names
    assert row["released_order"] == []  # the released code reads English only


def test_a_text_without_a_long_sentence_counts_as_one(chinese):
    short, empty = tag(["很好！杭州。", ""], "zh", chinese)
    assert short["sentences"] == 0
    assert set(short["word_sentence"]) == {0}
    assert empty["word_start"] == []


def byte_level(corpus: list[str], vocabulary: int) -> Tokenizer:
    """A byte-level BPE with the 256 bytes and as many merges as fit."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


# Bytes alone; merges inside and across characters; the whole text in few tokens.
@pytest.mark.parametrize("vocabulary", [256, 275, 300])
@pytest.mark.parametrize("given", [False, True])
def test_a_keywords_tokens_share_a_byte_with_it(row, vocabulary, given):
    tokenizer = byte_level([TEXT], vocabulary)
    texts = pa.table({"text_id": ["a"], "text": [TEXT]})
    ids = tokenizer.encode(TEXT).ids
    if given:  # a training sequence, whose offsets are our own
        texts = texts.append_column("token_ids", pa.array([ids]))
    encoded = encode(tokenizer, texts)

    # Independently: the bytes of each token, found by decoding to the tokenizer's own alphabet.
    pieces = [len(tokenizer.id_to_token(token)) for token in ids]  # one letter stands for a byte
    ends = np.cumsum(pieces)
    starts = ends - pieces
    assert ends[-1] == len(TEXT.encode())
    if vocabulary == 256:
        assert set(pieces) == {1}

    # The first token has no log-prob; the others' say which they are.
    logprob = -np.arange(1.0, len(ids))
    batch = Batch(
        text_ids=["a"],
        columns={
            "logprob": Ragged.from_rows([logprob]),
            "start": Ragged.from_rows([encoded.start[1:]]),
            "end": Ragged.from_rows([encoded.end[1:]]),
        },
        tags={
            field.name: Ragged.from_rows([np.array(row[field.name], np.int64)])
            for field in TAGS.required
            if pa.types.is_list(field.type)
        },
    )
    expected = []
    for sentence in range(2):
        chosen = set()
        for s, a, b, order in zip(
            *(row[f"word_{name}"] for name in ("sentence", "start", "end", "order")), strict=True
        ):
            if s == sentence and order < 3:
                low, high = len(TEXT[:a].encode()), len(TEXT[:b].encode())
                chosen |= set(np.flatnonzero((starts < high) & (ends > low)).tolist())
        expected.append(np.mean([-token for token in sorted(chosen) if token]))
    score = tag_tab.score(batch, k=3, words="entropy").scores
    np.testing.assert_allclose(score, [np.mean(expected)])
