"""A GGUF file of a tiny Llama, written as llama.cpp's converter writes it, and what it came from."""

import json
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests import tiny_model

HEADS, HIDDEN, LAYERS = 4, 64, 2
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def build(folder: Path, kind: str = "F32") -> tuple[Path, Path]:
    """A model folder with safetensors, and a GGUF file of the same weights.

    With `kind` Q8_0 the matrices are quantised in the file, and the folder holds what gguf's own
    dequantiser makes of them.
    """
    source = tiny_model.build(folder / "source", hidden=16, layers=1, context=8)
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    torch.manual_seed(0)
    network = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=HIDDEN,
            intermediate_size=2 * HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=HEADS,
            max_position_embeddings=64,
            initializer_range=0.3,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
            bos_token_id=0,
            eos_token_id=0,
        )
    )
    path = folder / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(network.config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(sorted(vocabulary, key=vocabulary.get))
    writer.add_token_types(
        [gguf.TokenType.CONTROL] + [gguf.TokenType.NORMAL] * (len(vocabulary) - 1)
    )
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)
    weights = network.state_dict()
    for name, tensor in weights.items():
        values = tensor.numpy()
        rotated = name.split(".")[-2] in ("q_proj", "k_proj")
        if rotated:
            values = _interleaved(values)
        if kind == "Q8_0" and values.ndim == 2:
            quant = gguf.GGMLQuantizationType.Q8_0
            packed = gguf.quantize(values, quant)
            writer.add_tensor(_name(name), packed, raw_dtype=quant)
            values = gguf.dequantize(packed, quant)
        else:
            writer.add_tensor(_name(name), values)
        weights[name] = torch.from_numpy(_apart(values) if rotated else values.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    network.load_state_dict(weights)
    network.save_pretrained(folder / "model")
    (folder / "model" / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    return folder / "model", path


def _name(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem in NAMES:
        return f"{NAMES[stem]}.weight"
    _, _, layer, rest = stem.split(".", 3)
    return f"blk.{layer}.{NAMES[rest]}.weight"


def _interleaved(values: np.ndarray) -> np.ndarray:
    """Rows of a query or key projection as ggml's rotary embedding wants them: halves dealt in turn
    (`permute` of llama.cpp's convert_hf_to_gguf.py)."""
    halves = values.reshape(HEADS, 2, len(values) // HEADS // 2, -1)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(values.shape))


def _apart(values: np.ndarray) -> np.ndarray:
    """The inverse of `_interleaved`."""
    pairs = values.reshape(HEADS, len(values) // HEADS // 2, 2, -1)
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(values.shape))
