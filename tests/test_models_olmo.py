"""OLMo's old layout against the native class, by a float64 forward pass of the old one."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from scripts.errors import UserError
from scripts.hub.convert import convert
from scripts.models.olmo import config
from scripts.models.transformers import load

OLD = {
    **{"model_type": "hf_olmo", "architectures": ["OLMoForCausalLM"]},
    **{"d_model": 16, "n_heads": 2, "n_layers": 2, "mlp_hidden_size": 48, "mlp_ratio": 4},
    **{"vocab_size": 30, "embedding_size": 32, "max_sequence_length": 64, "weight_tying": False},
    **{"activation_type": "swiglu", "block_type": "sequential", "rope": True, "alibi": False},
    **{"include_bias": False, "layer_norm_type": "default", "layer_norm_with_affine": False},
    **{"multi_query_attention": False, "clip_qkv": None, "pad_token_id": 1, "eos_token_id": 0},
}


def old_state(seed: int) -> dict[str, torch.Tensor]:
    """Random tensors of the old layout, in the shapes that its model has."""
    draw = np.random.default_rng(seed)
    width, inner, rows = OLD["d_model"], OLD["mlp_hidden_size"], OLD["embedding_size"]
    shapes = {"transformer.wte.weight": (rows, width), "transformer.ff_out.weight": (rows, width)}
    for block in range(OLD["n_layers"]):
        at = f"transformer.blocks.{block}"
        shapes[f"{at}.att_proj.weight"] = (3 * width, width)
        shapes[f"{at}.attn_out.weight"] = (width, width)
        shapes[f"{at}.ff_proj.weight"] = (inner, width)
        shapes[f"{at}.ff_out.weight"] = (width, inner // 2)
    return {
        f"model.{name}": torch.tensor(draw.normal(0, 0.3, shape), dtype=torch.float32)
        for name, shape in shapes.items()
    }


def old_logits(state: dict[str, torch.Tensor], ids: np.ndarray) -> np.ndarray:
    """The old model's own definition (OLMo's olmo/model.py) in float64, for one text."""
    w = {name.removeprefix("model.transformer."): t.double().numpy() for name, t in state.items()}
    heads, size = OLD["n_heads"], OLD["d_model"] // OLD["n_heads"]
    x = w["wte.weight"][ids]
    for block in range(OLD["n_layers"]):
        part = {
            name: w[f"blocks.{block}.{name}.weight"]
            for name in ("att_proj", "attn_out", "ff_proj", "ff_out")
        }
        q, k, v = np.split(norm(x) @ part["att_proj"].T, 3, axis=1)
        out = np.empty_like(x)
        for head in range(heads):
            at = slice(head * size, (head + 1) * size)
            scores = rotate(q[:, at]) @ rotate(k[:, at]).T / np.sqrt(size)
            scores[np.triu_indices(len(ids), 1)] = -np.inf
            p = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[:, at] = p / p.sum(axis=1, keepdims=True) @ v[:, at]
        x = x + out @ part["attn_out"].T
        # SwiGLU of olmo/model.py: x, gate = x.chunk(2); silu(gate) * x
        value, gate = np.split(norm(x) @ part["ff_proj"].T, 2, axis=1)
        x = x + (gate / (1 + np.exp(-gate)) * value) @ part["ff_out"].T
    return norm(x) @ w["ff_out.weight"].T


def norm(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def rotate(x: np.ndarray) -> np.ndarray:
    """Rotary positions: pairs are (i, i + half)."""
    half = x.shape[1] // 2
    angle = np.arange(len(x))[:, None] / 10000.0 ** (np.arange(half) / half)
    a, b = x[:, :half], x[:, half:]
    return np.hstack([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)])


@pytest.mark.parametrize("kind", ["safetensors", "pickle"])
@pytest.mark.parametrize("shard", [4e9, 2000])
def test_logits_of_the_old_layout(tmp_path, monkeypatch, kind, shard):
    monkeypatch.setattr("scripts.hub.convert.SHARD", shard)
    state = old_state(3)
    source = tmp_path / ("model.safetensors" if kind == "safetensors" else "pytorch_model.bin")
    save_file(state, source) if kind == "safetensors" else torch.save(state, source)
    cached = tmp_path / "config.json"
    cached.write_text(json.dumps(OLD))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").symlink_to(cached)
    convert([source], folder, "olmo")
    assert json.loads(cached.read_text()) == OLD, "the cache stays as it is"
    backbone = load(folder, "float32", torch.device("cpu"), print)
    assert isinstance(backbone.model, transformers.OlmoForCausalLM)
    ids = np.random.default_rng(1).integers(0, OLD["embedding_size"], 20)
    with torch.inference_mode():
        logits = backbone.model(torch.tensor(ids[None])).logits[0].double().numpy()
    np.testing.assert_allclose(logits, old_logits(state, ids), atol=1e-4)
    files = sorted(folder.glob("*.safetensors"))
    assert (len(files) == 1) is (shard == 4e9)
    assert sum(len(load_file(path)) for path in files) == 2 + 2 * 7


def test_what_the_native_class_cannot_express_is_refused():
    with pytest.raises(UserError, match="alibi: True"):
        config({**OLD, "alibi": True}, "config.json")
