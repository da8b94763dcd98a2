"""Sampled continuations: where texts are cut, what is drawn, and that texts do not mix."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import GPTNeoXForCausalLM

from scripts import generate
from scripts.contracts.extras import GENERATIONS
from scripts.contracts.table import provenance
from scripts.generate import plan, split_texts
from scripts.seeds import generator
from tests.tiny_model import WORDS, build, run_step, write_texts

CONTEXT = 24
TEXTS = ["the state of our union", "", "x", "naïve café", "the union is strong", "our state of"]
SETTINGS = {"seed": 1, "samples": 3, "share": 0.5, "top_k": 20, "length": None}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return build(tmp_path_factory.mktemp("m"), hidden=16, layers=2, context=CONTEXT)


def tokenizer_of(model):
    return Tokenizer.from_file(str(model / "tokenizer.json"))


def written(model, tmp_path, monkeypatch, texts, ids=None, **settings):
    """Rows of the file by text id."""
    path = write_texts(tmp_path / "texts.parquet", texts, ids)
    out = tmp_path / "generations.parquet"
    run_step(
        generate, monkeypatch, {**SETTINGS, **settings}, model=model, texts=path, generations=out
    )
    rows = GENERATIONS.read(out).to_pylist()
    assert [row["text_id"] for row in rows] == (ids or [f"t{i}" for i in range(len(texts))])
    return {row["text_id"]: row for row in rows}


def drawn(network, ids, prompt, uniforms, top_k, stop=None):
    """Tokens behind ``ids[:prompt]``, one forward pass in float64 for each."""
    ids = list(ids[:prompt])
    for uniform in uniforms:
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([ids])).logits[0, -1].numpy()
        order = np.argsort(-logits)[:top_k]
        weights = np.exp(logits[order] - logits[order[0]])
        token = int(order[np.searchsorted(np.cumsum(weights) / weights.sum(), uniform, "right")])
        if token == stop:
            break
        ids.append(token)
    return ids[prompt:]


@pytest.mark.parametrize(("share", "top_k"), [(0.5, 20), (0.25, 1)])
def test_samples_are_draws_from_the_float64_model(model, tmp_path, monkeypatch, share, top_k):
    rows = written(model, tmp_path, monkeypatch, TEXTS, share=share, top_k=top_k)
    network = GPTNeoXForCausalLM.from_pretrained(model, dtype=torch.float64)
    tokenizer = tokenizer_of(model)
    for number, text in enumerate(TEXTS):
        row, encoding = rows[f"t{number}"], tokenizer.encode(text)
        ids = encoding.ids
        if len(ids) < 2:
            assert (row["target"], row["samples"]) == ("", [""] * 3)
            continue
        prompt = max(1, int(len(ids) * share))
        assert row["target"] == text[encoding.offsets[prompt][0] :]
        uniforms = generator(1, "generate", "d", f"t{number}").random((3, len(ids) - prompt))
        expected = [drawn(network, ids, prompt, each, top_k) for each in uniforms]
        assert row["samples"] == tokenizer.decode_batch(expected)
        # With one token to choose from all samples are the greedy one, else they differ.
        assert len(set(row["samples"])) == (1 if top_k == 1 else 3)
    assert provenance(tmp_path / "generations.parquet")["top_k"] == top_k


def test_a_text_has_the_same_samples_alone_and_among_others(model, tmp_path, monkeypatch):
    names = [f"t{number}" for number in range(len(TEXTS))]
    together = written(model, tmp_path, monkeypatch, TEXTS)
    back = written(model, tmp_path, monkeypatch, TEXTS[::-1], names[::-1])
    assert back == together
    for name, text in zip(names, TEXTS, strict=True):
        assert written(model, tmp_path, monkeypatch, [text], [name]) == {name: together[name]}
    other = written(model, tmp_path, monkeypatch, TEXTS, seed=2)
    assert other["t0"]["samples"] != together["t0"]["samples"]


def test_a_sample_ends_where_the_model_ends_a_text(tmp_path, monkeypatch):
    model = build(tmp_path / "m", hidden=16, layers=2, context=CONTEXT)
    text = " ".join(WORDS[:7])
    free = written(model, tmp_path, monkeypatch, [text], samples=8)["t0"]["samples"]
    tokenizer = tokenizer_of(model)
    ids = tokenizer.encode(text).ids
    network = GPTNeoXForCausalLM.from_pretrained(model, dtype=torch.float64)
    uniforms = generator(1, "generate", "d", "t0").random((8, len(ids) - len(ids) // 2))
    stop = drawn(network, ids, len(ids) // 2, uniforms[0], 20)[2]
    ending = build(tmp_path / "e", hidden=16, layers=2, context=CONTEXT, eos_token_id=stop)
    got = written(ending, tmp_path, monkeypatch, [text], samples=8)["t0"]["samples"]
    expected = [drawn(network, ids, len(ids) // 2, each, 20, stop) for each in uniforms]
    assert got == tokenizer.decode_batch(expected)
    assert got[0] != free[0] and len(expected[0]) <= 2


def test_texts_are_cut_to_the_context_and_into_two_parts():
    bounds = np.cumsum([0, 0, 1, 2, 9, 40])
    halves = split_texts(bounds, 0.5, None, 25)
    assert halves.prompt.tolist() == [0, 0, 1, 4, 12]
    assert (halves.stop - halves.start).tolist() == [0, 1, 2, 9, 25]
    assert halves.write[2:].tolist() == [1, 5, 13]
    # At least one token of prompt and of second part; a length is cut to the room that is left.
    long = split_texts(bounds, 0.99, 20, 25)
    assert long.prompt[2:].tolist() == [1, 8, 24]
    assert long.write[2:].tolist() == [20, 17, 1]
    assert split_texts(bounds, 0.01, 20, None).write.tolist()[2:] == [20, 20, 20]
    assert split_texts(bounds, 0.01, 20, None).prompt.tolist()[2:] == [1, 1, 1]


def test_batches_hold_texts_of_one_length_of_prompt_within_the_budget():
    rng = np.random.default_rng(0)
    split = split_texts(np.concatenate([[0], np.cumsum(rng.integers(0, 30, 200))]), 0.5, None, None)
    batches = plan(split, 3, 200)
    assert sorted(np.concatenate(batches)) == np.flatnonzero(split.prompt).tolist()
    for batch in batches:
        (prompt,) = set(split.prompt[batch])
        assert len(batch) == 1 or 3 * len(batch) * (prompt + split.write[batch].max()) <= 200
    assert max(map(len, batches)) > 5


def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(model, tmp_path, monkeypatch):
    written(model, tmp_path, monkeypatch, TEXTS)
    whole = (tmp_path / "generations.parquet").read_bytes()
    calls, draw = [], generate.continuations

    def killed(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return draw(*args)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(generate, "continuations", killed)
        written(model, tmp_path, patch, TEXTS)
    calls.clear()
    monkeypatch.setattr(generate, "continuations", lambda *args: calls.append(args) or draw(*args))
    written(model, tmp_path, monkeypatch, TEXTS)
    assert (tmp_path / "generations.parquet").read_bytes() == whole
    lengths = {len(tokenizer_of(model).encode(text).ids) // 2 for text in TEXTS} - {0}
    assert len(calls) == len(lengths) - 1
