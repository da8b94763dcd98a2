"""OLMo's first published layout (model type hf_olmo) as transformers' own OlmoForCausalLM.

The old layout needs a package that cannot share an environment with transformers 5. The tensors
are the same, fused and under other names (OLMo's scripts/convert_olmo_to_hf_new.py): att_proj holds
query, key and value; ff_proj holds the values first and the gate second, because OLMo's SwiGLU is
silu(second half) * first half. The layer norms have no weights.
"""

import re
from collections.abc import Mapping

import torch

from scripts.errors import UserError

BLOCK = re.compile(r"transformer\.blocks\.(\d+)\.(\w+)\.weight")
# What OlmoForCausalLM cannot express, and the one value that it can.
ONLY = {
    "activation_type": "swiglu",
    "alibi": False,
    "attention_layer_norm": False,
    "block_type": "sequential",
    "include_bias": False,
    "layer_norm_with_affine": False,
    "rope": True,
}


def config(old: Mapping, where: str) -> dict:
    """The config.json of the native class; UserError where it cannot express the old one."""
    for key, value in ONLY.items():
        if old.get(key, value) != value:
            raise UserError(
                f"{where}: {key}: {old[key]} is more than the layout `olmo` can convert"
            )
    heads = old["n_heads"]
    inner = old.get("mlp_hidden_size") or old["mlp_ratio"] * old["d_model"]
    return {
        "architectures": ["OlmoForCausalLM"],
        "model_type": "olmo",
        "vocab_size": old.get("embedding_size") or old["vocab_size"],
        "hidden_size": old["d_model"],
        "intermediate_size": inner // 2,
        "num_hidden_layers": old["n_layers"],
        "num_attention_heads": heads,
        "num_key_value_heads": _key_value_heads(old),
        "max_position_embeddings": old["max_sequence_length"],
        "rope_parameters": {"rope_type": "default", "rope_theta": old.get("rope_theta", 10000.0)},
        "clip_qkv": old.get("clip_qkv"),
        "tie_word_embeddings": old.get("weight_tying", False),
        "pad_token_id": old.get("pad_token_id"),
        "bos_token_id": None,
        "eos_token_id": old.get("eos_token_id"),
    }


def tensors(old: Mapping, name: str, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    """The native tensors that one of the old layout becomes."""
    name = name.removeprefix("model.")
    if name == "transformer.wte.weight":
        return {"model.embed_tokens.weight": tensor}
    if name == "transformer.ff_out.weight":
        return {"lm_head.weight": tensor}
    block = BLOCK.fullmatch(name)
    if block is None:
        raise UserError(f"the layout `olmo` has no tensor {name}; is `layout` right in the entry?")
    at, part = f"model.layers.{block[1]}.", block[2]
    if part == "att_proj":
        width = old["d_model"] // old["n_heads"] * _key_value_heads(old)
        split = tensor.split([old["d_model"], width, width])
        return {f"{at}self_attn.{x}_proj.weight": t for x, t in zip("qkv", split, strict=True)}
    if part == "ff_proj":
        up, gate = tensor.chunk(2)
        return {f"{at}mlp.up_proj.weight": up, f"{at}mlp.gate_proj.weight": gate}
    renamed = {"attn_out": "self_attn.o_proj", "ff_out": "mlp.down_proj"}
    if part not in renamed:
        raise UserError(f"the layout `olmo` has no tensor {name}; is `layout` right in the entry?")
    return {f"{at}{renamed[part]}.weight": tensor}


def _key_value_heads(old: Mapping) -> int:
    if old.get("n_kv_heads"):
        return old["n_kv_heads"]
    return 1 if old.get("multi_query_attention") else old["n_heads"]
