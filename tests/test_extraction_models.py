"""Every supported architecture against its own float64 logits; loading, dtypes, prefixes, noise."""

import numpy as np
import pytest
import torch
import transformers

from scripts.errors import UserError
from scripts.extraction.batching import Budget
from scripts.extraction.encoding import Encoded
from scripts.extraction.engine import Engine, NonFiniteError
from scripts.extraction.overflow import Overflow
from scripts.extraction.parts import Parts
from scripts.extraction.perturb import perturbed
from scripts.extraction.planning import plan
from scripts.extraction.statistics import Scorer
from scripts.models.heads import Head
from scripts.models.transformers import ARCHITECTURES, SAFER, Backbone, load

V = 97
CPU = torch.device("cpu")
BUDGET = Budget(batch=256, early=64, part=600)

_llama = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
_gpt = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
CONFIGS = {
    "CohereForCausalLM": _llama | {"logit_scale": 0.25},
    "GPT2LMHeadModel": _gpt,
    "GPTNeoForCausalLM": {
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 4,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 8,
        "max_position_embeddings": 64,
    },
    "GPTNeoXForCausalLM": _llama,
    "Gemma2ForCausalLM": _llama
    | {
        "head_dim": 8,
        "sliding_window": 8,
        "final_logit_softcapping": 2.0,
        "attn_logit_softcapping": 1.0,
    },
    "GraniteForCausalLM": _llama | {"logits_scaling": 4.0},
    "LlamaForCausalLM": _llama,
    "MambaForCausalLM": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
    "MistralForCausalLM": _llama | {"sliding_window": 8},
    "OPTForCausalLM": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "ffn_dim": 64,
        "max_position_embeddings": 64,
        "word_embed_proj_dim": 16,
    },
    "Olmo2ForCausalLM": _llama,
    "OlmoForCausalLM": _llama,
    "PhiForCausalLM": _llama,
    "Qwen2ForCausalLM": _llama,
    # Not in the table of known heads: its own logits are taken.
    "GPTJForCausalLM": _gpt | {"rotary_dim": 4},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Model folders by architecture, made when asked for, with weights that matter."""
    made = {}

    def folder(name):
        if name not in made:
            cls = getattr(transformers, name)
            ids = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
            torch.manual_seed(0)
            model = cls(cls.config_class(vocab_size=V, **ids, **CONFIGS[name]))
            for weight in model.parameters():
                weight.data.add_(torch.randn_like(weight), alpha=0.15)
            made[name] = tmp_path_factory.mktemp(name)
            model.save_pretrained(made[name])
        return made[name]

    return folder


def texts(lengths=(30, 3, 17, 1, 0, 29, 44, 30), seed=0):
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = np.random.default_rng(seed).integers(1, V, bounds[-1])
    none = np.zeros(len(ids), np.int32)
    return Encoded(ids, none, none, bounds)


def read(backbone, planned, folder, tokens=256, rows=37):
    """Statistics of the planned texts, one array [5, scored] for each."""
    folder.mkdir(exist_ok=True)
    engine = Engine(backbone, Scorer(backbone.vocabulary, CPU, rows), tokens, print)
    result = engine.run(planned, Parts(folder), lambda *_: None)
    bounds = planned.encoded.bounds
    return [result[:, low + 1 : high] for low, high in zip(bounds[:-1], bounds[1:], strict=True)]


def float64(folder, name, ids, skip=0):
    """Statistics of ids[skip + 1:] from the model's own float64 logits, eager attention."""
    cls = getattr(transformers, name)
    model = cls.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        # Mamba's scan asks for fp32 by itself, whatever the model's dtype.
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        logits = model(input_ids=torch.from_numpy(ids)[None, :-1]).logits[0, skip:].double()
    logp = logits.log_softmax(-1)
    p, target = logp.exp(), torch.from_numpy(ids[skip + 1 :])[:, None]
    mean = (p * logp).sum(-1)
    std = (p * (logp - mean[:, None]) ** 2).sum(-1).sqrt()
    rank = (logits > logits.gather(1, target)).sum(-1).double()
    return torch.stack([logp.gather(1, target)[:, 0], logp.max(-1).values, mean, std, rank]).numpy()


def assert_close(got, expected, atol=1e-5):
    np.testing.assert_allclose(got[:4], expected[:4], atol=atol)
    assert np.abs(got[4] - expected[4]).max(initial=0) <= 1


@pytest.mark.parametrize("name", CONFIGS)
def test_batched_against_float64_logits(folders, tmp_path, name):
    log = []
    backbone = load(folders(name), "auto", CPU, log.append)
    assert (
        backbone.own_logits == (name not in ARCHITECTURES) == any("unknown head" in m for m in log)
    )
    encoded = texts()
    values = read(backbone, plan(encoded, Overflow(), BUDGET), tmp_path)
    bounds = encoded.bounds
    spread = 0
    for got, low, high in zip(values, bounds[:-1], bounds[1:], strict=True):
        if high - low > 1:
            assert_close(got, float64(folders(name), name, encoded.ids[low:high]))
            spread = max(spread, got[0].std())
    assert spread > 0.05  # the weights do matter


def test_all_supported_architectures_are_tested():
    assert set(ARCHITECTURES) < set(CONFIGS)


@pytest.mark.parametrize("name", ["GPTNeoXForCausalLM", "MambaForCausalLM"])
def test_alone_in_a_batch_and_in_another_order(folders, tmp_path, name):
    backbone = load(folders(name), "float32", CPU, print)
    encoded = texts()
    batched = read(backbone, plan(encoded, Overflow(), BUDGET), tmp_path / "batched")
    rows = np.arange(len(encoded.bounds) - 1)
    turned = plan(encoded.take(rows[::-1]), Overflow(), BUDGET)
    turned = read(backbone, turned, tmp_path / "turned")[::-1]
    for row in rows:
        alone = plan(encoded.take(rows[row : row + 1]), Overflow(), BUDGET)
        [alone] = read(backbone, alone, tmp_path / f"alone{row}")
        assert_close(alone, batched[row], 5e-5)
        assert_close(turned[row], batched[row], 5e-5)


def test_windows_against_float64(folders, tmp_path):
    backbone = load(folders("LlamaForCausalLM"), "float32", CPU, print)
    encoded = texts((50,))
    [got] = read(backbone, plan(encoded, Overflow(window=20, stride=12), BUDGET), tmp_path)
    whole = []
    for start, first in ((0, 1), (12, 21), (24, 33), (36, 45)):
        ids = encoded.ids[start : start + 21]
        whole.append(
            float64(folders("LlamaForCausalLM"), "LlamaForCausalLM", ids, first - start - 1)
        )
    assert_close(got, np.concatenate(whole, axis=1))


@pytest.mark.parametrize(
    "name",
    [
        "GPT2LMHeadModel",
        "GPTNeoXForCausalLM",
        "Gemma2ForCausalLM",
        "LlamaForCausalLM",
        "MambaForCausalLM",
        "MistralForCausalLM",
        "GPTJForCausalLM",
    ],
)
def test_behind_a_prefix_as_if_it_was_read_each_time(folders, tmp_path, name):
    backbone = load(folders(name), "float32", CPU, print)
    encoded = texts((20, 1, 9, 13, 20, 5))
    draw = np.random.default_rng(1)
    prefixes = [draw.integers(1, V, 18), draw.integers(1, V, 1)]
    which = np.array([0, 0, 1, 0, 0, 1])
    values = read(backbone, plan(encoded, Overflow(), BUDGET, (prefixes, which)), tmp_path)
    for row, (got, number) in enumerate(zip(values, which, strict=True)):
        own = encoded.ids[encoded.bounds[row] : encoded.bounds[row + 1]]
        ids = np.concatenate([prefixes[number], own])
        # Each token of the text is scored, its first one too.
        assert_close(got, float64(folders(name), name, ids, len(prefixes[number]) - 1))


def test_perturbed_copies_leave_the_weights_bit_identical(folders):
    backbone = load(folders("GPTNeoXForCausalLM"), "bfloat16", CPU, print)
    before = {name: w.clone() for name, w in backbone.model.named_parameters()}
    seen = []
    for number in perturbed(backbone.model, 0.005, 10, seed=7):
        noise = [(w - before[name]).float() for name, w in backbone.model.named_parameters()]
        flat = torch.cat([x.flatten() for x in noise])
        # sigma, within the error of 5,000 draws and bf16's rounding of weights near 0.15
        assert abs(flat.std().item() / 0.005 - 1) < 0.05
        seen.append((number, flat.sum().item()))
    assert [number for number, _ in seen] == list(range(1, 11))
    assert len({total for _, total in seen}) == 10
    for name, weight in backbone.model.named_parameters():
        assert torch.equal(weight, before[name])
    again = next(perturbed(backbone.model, 0.005, 1, seed=7))
    assert again == 1


def test_noise_is_added_once_in_fp32(folders):
    """Copy 3 is the same whether or not copies 1 and 2 came before it."""
    backbone = load(folders("GPTNeoXForCausalLM"), "bfloat16", CPU, print)
    copies = {}
    for number in perturbed(backbone.model, 0.01, 3, seed=1):
        copies[number] = [w.clone() for w in backbone.model.parameters()]
    third = perturbed(backbone.model, 0.01, 3, seed=1)
    for _ in range(3):
        next(third)
    assert all(map(torch.equal, copies[3], backbone.model.parameters()))
    third.close()


def test_out_of_memory_halves_the_batch_and_goes_on(folders, tmp_path, monkeypatch):
    backbone = load(folders("GPTNeoXForCausalLM"), "float32", CPU, print)
    planned = plan(texts(), Overflow(), BUDGET)
    expected = read(backbone, planned, tmp_path / "whole")
    hidden, sizes, log = Backbone.hidden, [], []

    def small(self, ids):
        sizes.append(ids.numel())
        if ids.numel() > 60:
            raise torch.OutOfMemoryError("no memory")
        return hidden(self, ids)

    monkeypatch.setattr(Backbone, "hidden", small)
    (tmp_path / "halved").mkdir()
    engine = Engine(backbone, Scorer(V, CPU, 37), 256, log.append)
    result = engine.run(planned, Parts(tmp_path / "halved"), lambda *_: None)
    bounds = planned.encoded.bounds
    for row, values in enumerate(expected):
        assert_close(result[:, bounds[row] + 1 : bounds[row + 1]], values, 5e-5)
    assert engine.tokens <= 60 and "out of memory" in log[0]
    assert sum(size > 60 for size in sizes) == len(log)  # no batch failed twice at one size
    monkeypatch.setattr(
        Backbone, "hidden", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("no"))
    )
    (tmp_path / "never").mkdir()
    with pytest.raises(UserError, match="one text of 43 tokens does not fit"):
        engine.run(planned, Parts(tmp_path / "never"), lambda *_: None)


def test_out_of_memory_in_the_head_halves_the_rows(folders, tmp_path, monkeypatch):
    backbone = load(folders("GPTNeoXForCausalLM"), "float32", CPU, print)
    planned = plan(texts(), Overflow(), BUDGET)
    expected = read(backbone, planned, tmp_path / "whole")
    write = Head.write

    def small(self, hidden, columns, out):
        if len(hidden) > 10:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried …")
        write(self, hidden, columns, out)

    monkeypatch.setattr(Head, "write", small)
    for got, values in zip(read(backbone, planned, tmp_path / "few"), expected, strict=True):
        assert_close(got, values, 5e-5)


def test_a_value_that_is_not_finite_reaches_no_file(folders, tmp_path):
    backbone = load(folders("GPTNeoXForCausalLM"), "float32", CPU, print)
    backbone.model.gpt_neox.layers[1].mlp.dense_4h_to_h.bias.data[3] = torch.inf
    with pytest.raises(NonFiniteError):
        read(backbone, plan(texts(), Overflow(), BUDGET), tmp_path)
    assert not list(tmp_path.iterdir())
    assert SAFER["float16"] == "bfloat16" and SAFER["bfloat16"] == "float32"
    assert "float32" not in SAFER


def test_sixteen_bit_backbones_stay_near(folders, tmp_path):
    encoded = texts()
    planned = plan(encoded, Overflow(), BUDGET)
    exact = read(
        load(folders("GPTNeoXForCausalLM"), "float32", CPU, print), planned, tmp_path / "a"
    )
    for dtype, atol in (("bfloat16", 0.15), ("float16", 0.02)):
        backbone = load(folders("GPTNeoXForCausalLM"), dtype, CPU, print)
        assert backbone.dtype == dtype and backbone.head().weight.dtype == torch.float32
        values = read(backbone, planned, tmp_path / dtype)
        worst = max(np.abs(a - b)[:4].max(initial=0) for a, b in zip(values, exact, strict=True))
        assert 1e-4 < worst < atol


@pytest.mark.parametrize(("dtype", "says"), [("int8", "CUDA"), ("nf4", "CUDA"), ("fp8", "unknown")])
def test_dtypes_that_cannot_be(folders, dtype, says):
    with pytest.raises(UserError, match=says):
        load(folders("GPTNeoXForCausalLM"), dtype, CPU, print)


def test_a_model_that_looks_ahead_is_refused(folders, monkeypatch):
    from transformers import GPTJForCausalLM

    forward = GPTJForCausalLM.forward

    def backwards(self, input_ids, **kwargs):
        output = forward(self, input_ids=input_ids.flip(1), **kwargs)
        output.logits = output.logits.flip(1)
        return output

    monkeypatch.setattr(GPTJForCausalLM, "forward", backwards)
    with pytest.raises(UserError, match="not causal"):
        load(folders("GPTJForCausalLM"), "auto", CPU, print)
