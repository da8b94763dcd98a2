"""Neighbours by a masked language model: a tiny random BERT that is made on the spot."""

import difflib

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.views import neighbours
from scripts.views.masked import Proposer

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "dog",
    "ran",
    "in",
    "sun",
    "##s",
    "##ting",
    ".",
    ",",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = "The cats sat on a mat, the dog ran in the sun."
POSITIONS = 24


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """A folder with an uncased WordPiece tokenizer and random weights."""
    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text("\n".join(SPECIAL + WORDS))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=POSITIONS)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(SPECIAL + WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=POSITIONS,
        initializer_range=0.5,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return str(folder)


def table(strings: list[str]) -> pa.Table:
    names = [f"t{i}" for i in range(len(strings))]
    columns = {"text_id": names, "text": strings, "label": [0] * len(names), "group": names}
    return pa.table(columns, schema=TEXTS.required)


def rewrite(model: str, strings: list[str], **settings) -> pa.Table:
    texts = table(strings)
    settings = {"seed": 1, "n": 25, "share": 0.05, **settings}
    return neighbours.rewrite(texts, texts, model=model, **settings)


def test_a_proposal_scores_its_probability_over_what_the_token_leaves(model):
    """Without dropout, against the model's own softmax in float64."""
    proposals = Proposer(model, None, 0.0, 3, torch.device("cpu")).propose(TEXT, seed=1)
    tokenizer = BertTokenizerFast.from_pretrained(model)
    encoding = tokenizer(TEXT, return_offsets_mapping=True)
    ids = encoding["input_ids"]
    network = BertForMaskedLM.from_pretrained(model, dtype=torch.float64).eval()
    with torch.no_grad():
        p = network(torch.tensor([ids])).logits[0].softmax(-1).numpy()
    spans = {(proposal.start, proposal.end): proposal for proposal in proposals}
    assert len(spans) == len(ids) - 2
    vocabulary = SPECIAL + WORDS
    for place, (start, end) in list(enumerate(encoding["offset_mapping"]))[1:-1]:
        own = vocabulary[ids[place]]
        # Others of the same kind, a beginning or a continuation of a word, by their score.
        kind = [w for w in WORDS if w.startswith("##") == own.startswith("##") and w != own]
        score = {w: p[place, vocabulary.index(w)] / (1 - p[place, ids[place]]) for w in kind}
        best = sorted(kind, key=score.get, reverse=True)[:3]
        proposal = spans[start, end]
        words = [word.removeprefix("##") for word in best]
        if TEXT[start].isupper():
            words = [word.capitalize() for word in words]
        assert proposal.words == words
        np.testing.assert_allclose(proposal.scores, [score[w] for w in best], rtol=1e-4)


def test_dropout_is_drawn_for_each_text(model):
    proposer = Proposer(model, None, 0.7, 3, torch.device("cpu"))
    once, again, other = (proposer.propose(TEXT, seed) for seed in (1, 1, 2))
    scores = [np.concatenate([p.scores for p in some]) for some in (once, again, other)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize(("share", "pieces"), [(0.05, 1), (0.2, 3)])
def test_neighbours_differ_in_a_share_of_the_tokens(model, share, pieces):
    rewritten = rewrite(model, [TEXT], share=share)  # of 15 tokens
    TEXTS.check(rewritten)
    assert rewritten["variant"].to_pylist() == list(range(1, 26))
    made = rewritten["text"].to_pylist()
    assert len(set(made)) == 25 and TEXT not in made
    for neighbour in made:
        edits = difflib.SequenceMatcher(None, TEXT, neighbour, autojunk=False).get_opcodes()
        assert any(tag != "equal" for tag, *_ in edits)
        assert neighbour[0].isupper()  # the case of the place, though the model has none
        words = zip(TEXT.split(), neighbour.split(), strict=True)
        assert 1 <= sum(a != b for a, b in words) <= pieces


def test_the_best_sums_of_scores_are_taken(model):
    proposer = Proposer(model, None, 0.0, 10, torch.device("cpu"))
    proposals = proposer.propose(TEXT, seed=1)
    made = neighbours.neighbours(TEXT, proposals, 5, 0.05, np.random.default_rng(0))
    # One replacement each: all pairs of place and word, best first.
    every = {
        TEXT[: p.start] + word + TEXT[p.end :]: score
        for p in proposals
        for word, score in zip(p.words, p.scores, strict=True)
    }
    assert made == sorted(every, key=every.get, reverse=True)[:5]


def test_neighbours_of_a_text_do_not_depend_on_the_others(model):
    once = rewrite(model, [TEXT, "a dog sat."], n=5)
    again = neighbours.rewrite(
        table([TEXT, "a dog sat."]).take([1]), table([]), seed=1, model=model, n=5, share=0.05
    )
    assert once.slice(5) == again


def test_tokens_beyond_the_models_context_stay(model):
    long = " ".join(["the cat sat"] * 20)
    for neighbour in rewrite(model, [long], n=10)["text"].to_pylist():
        words = neighbour.split()
        assert words[POSITIONS - 2 :] == long.split()[POSITIONS - 2 :]
        assert words != long.split()


def test_a_text_without_words_has_no_neighbours(model):
    assert len(rewrite(model, ["", "the"], n=3)) == 3


def test_a_model_that_cannot_be_had_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="'nobody/no-such-bert' cannot be had: .*word_neighbours"):
        rewrite("nobody/no-such-bert", [TEXT])
    with pytest.raises(UserError, match="cannot be read as a masked language model"):
        rewrite(str(tmp_path), [TEXT])
