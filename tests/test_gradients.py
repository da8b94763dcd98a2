"""Norms of gradients, against autograd in float64 and against finite differences."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import GPTNeoXForCausalLM

from scripts import gradients
from scripts.contracts.extras import GRADIENTS
from scripts.contracts.table import provenance
from tests.tiny_model import WORDS, build, run_step, write_texts

CONTEXT = 24
TEXTS = ["the state of our union", "", "x", "naïve café 日本語", "is strong 🙂 the union"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return build(tmp_path_factory.mktemp("m"), hidden=16, layers=2, context=CONTEXT)


def tokenize(model, text):
    return Tokenizer.from_file(str(model / "tokenizer.json")).encode(text).ids


def double(model):
    return GPTNeoXForCausalLM.from_pretrained(model, dtype=torch.float64)


def losses(network, ids):
    """-log p of all tokens but the first, read at once, in float64."""
    logits = network(input_ids=torch.tensor([ids[:-1]])).logits[0]
    return -logits.log_softmax(-1)[torch.arange(len(ids) - 1), ids[1:]]


def three_norms(gradient):
    return [np.abs(gradient).sum(), np.sqrt((gradient**2).sum()), np.abs(gradient).max()]


def by_autograd(network, loss):
    parts = torch.autograd.grad(loss, list(network.parameters()))
    return three_norms(torch.cat([part.flatten() for part in parts]).numpy())


def norms(model, tmp_path, monkeypatch, texts, **settings):
    path = write_texts(tmp_path / "texts.parquet", texts)
    out = tmp_path / "gradients.parquet"
    run_step(gradients, monkeypatch, settings, model=model, texts=path, gradients=out)
    table = GRADIENTS.read(out)
    assert table["text_id"].to_pylist() == [f"t{i}" for i in range(len(texts))]
    return np.stack([table[name].to_numpy() for name in ("norm_1", "norm_2", "norm_inf")], axis=1)


def test_norms_are_those_of_autograd_text_by_text(model, tmp_path, monkeypatch):
    got = norms(model, tmp_path, monkeypatch, TEXTS)
    network = double(model)
    for text, found in zip(TEXTS, got, strict=True):
        ids = tokenize(model, text)
        # Texts without a scored token have no gradient.
        expected = by_autograd(network, losses(network, ids).mean()) if len(ids) > 1 else [0] * 3
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    footer = provenance(tmp_path / "gradients.parquet")
    assert (footer["dtype"], footer["truncated"]) == ("float32", 0)


def test_norms_are_those_of_finite_differences(tmp_path, monkeypatch):
    model = build(tmp_path / "small", hidden=4, layers=1, context=CONTEXT)
    got = norms(model, tmp_path, monkeypatch, ["the state"])[0]
    network, ids, step = double(model), tokenize(model, "the state"), 1e-5
    read = set(ids)
    gradient = []
    with torch.no_grad():
        for name, weight in network.named_parameters():
            flat = weight.view(-1)
            for place in range(len(flat)):
                # Rows of tokens that the text does not hold have no part in it.
                if "embed_in" in name and place // weight.shape[1] not in read:
                    continue
                original, around = flat[place].item(), []
                for sign in (1, -1):
                    flat[place] = original + sign * step
                    around.append(losses(network, ids).mean().item())
                flat[place] = original
                gradient.append((around[0] - around[1]) / (2 * step))
    np.testing.assert_allclose(got, three_norms(np.array(gradient)), rtol=1e-4)


def test_long_texts_are_cut_or_read_in_windows(model, tmp_path, monkeypatch):
    text = " ".join(WORDS * 2)
    ids, network = tokenize(model, text), double(model)
    assert len(ids) > CONTEXT + 1
    cut = norms(model, tmp_path, monkeypatch, [text])[0]
    np.testing.assert_allclose(
        cut, by_autograd(network, losses(network, ids[: CONTEXT + 1]).mean()), rtol=1e-4
    )
    assert provenance(tmp_path / "gradients.parquet")["truncated"] == 1
    # Window k starts 16 k tokens into the text, reads 24 and scores what no earlier one has.
    parts, scored, start = [], 1, 0
    while scored < len(ids):
        stop = min(len(ids), start + CONTEXT + 1)
        parts.append(losses(network, ids[start:stop])[scored - start - 1 :])
        scored, start = stop, start + 16
    windows = norms(model, tmp_path, monkeypatch, [text], overflow={"window": 16})[0]
    loss = torch.cat(parts)
    assert len(loss) == len(ids) - 1 and len(parts) > 1
    np.testing.assert_allclose(windows, by_autograd(network, loss.mean()), rtol=1e-4)


def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(model, tmp_path, monkeypatch):
    monkeypatch.setattr(gradients, "PART", 2)
    norms(model, tmp_path, monkeypatch, TEXTS)
    whole = (tmp_path / "gradients.parquet").read_bytes()
    taken, take = [], gradients.gradient_norms

    def killed(backbone, work, items):
        taken.append(items)
        if len(taken) == 2:
            raise KeyboardInterrupt
        return take(backbone, work, items)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(gradients, "gradient_norms", killed)
        norms(model, tmp_path, patch, TEXTS)
    taken.clear()
    monkeypatch.setattr(gradients, "gradient_norms", lambda *args: taken.append(0) or take(*args))
    norms(model, tmp_path, monkeypatch, TEXTS)
    assert (tmp_path / "gradients.parquet").read_bytes() == whole
    # Of the five texts three have a gradient; the first part was finished.
    assert len(taken) == 2
