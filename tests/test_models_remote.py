"""A model with code of its own: refused, or read where the entry trusts it."""

import json

import pytest
import torch
import transformers

from scripts.errors import UserError
from scripts.models.transformers import load

CODE = """
from transformers import LlamaConfig, LlamaForCausalLM

class MineConfig(LlamaConfig):
    model_type = "mine"

class MineForCausalLM(LlamaForCausalLM):
    config_class = MineConfig
"""


def test_code_of_the_folder_runs_only_when_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "mod"))
    plain, mine = tmp_path / "plain", tmp_path / "mine"
    shape = dict(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2)
    config = transformers.LlamaConfig(**shape, num_attention_heads=2)
    torch.manual_seed(4)
    model = transformers.LlamaForCausalLM(config)
    for folder in (plain, mine):
        model.save_pretrained(folder)
    (mine / "code_mine.py").write_text(CODE)
    config = json.loads((mine / "config.json").read_text())
    config |= {
        "model_type": "mine",
        "architectures": ["MineForCausalLM"],
        "auto_map": {
            "AutoConfig": "code_mine.MineConfig",
            "AutoModelForCausalLM": "code_mine.MineForCausalLM",
        },
    }
    (mine / "config.json").write_text(json.dumps(config))
    cpu = torch.device("cpu")
    with pytest.raises(UserError, match="cannot read it"):
        load(mine, "float32", cpu, print)
    backbone = load(mine, "float32", cpu, print, trusted=True)
    assert backbone.own_logits and type(backbone.model).__name__ == "MineForCausalLM"
    ids = torch.arange(20)[None]
    expected = load(plain, "float32", cpu, print).model(ids).logits
    assert torch.equal(backbone.hidden(ids), expected)
