"""A GPT-NeoX of a few hundred weights with a byte-level tokenizer, and steps run in this process."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

from scripts.contracts.texts import TEXTS

WORDS = ["the", "state", "of", "our", "union", "is", "strong", "naïve", "café", "日本語", "🙂"]


def build(folder: Path, *, hidden: int, layers: int, context: int, **config) -> Path:
    """A model folder with random weights, large enough that its predictions differ."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=280,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    torch.manual_seed(0)
    network = GPTNeoXForCausalLM(
        GPTNeoXConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=2,
            intermediate_size=2 * hidden,
            max_position_embeddings=context,
            initializer_range=0.4,
            **{"bos_token_id": None, "eos_token_id": None, **config},
        )
    )
    network.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def write_texts(path: Path, texts: list[str], ids: list[str] | None = None) -> Path:
    """A file of plain texts."""
    names = ids or [f"t{number}" for number in range(len(texts))]
    table = {"text_id": names, "text": texts, "label": [0] * len(texts), "group": names}
    TEXTS.write(path, pa.table(table, schema=TEXTS.required), {})
    return path


def run_step(step, monkeypatch, settings: dict, **paths: Path) -> None:
    """Run a step here, for importing transformers takes seconds."""
    options = [part for name, path in paths.items() for part in (f"--{name}", str(path))]
    settings = {"model": "m", "dataset": "d", **settings}
    monkeypatch.setattr(sys, "argv", ["step", *options, "--settings", json.dumps(settings)])
    monkeypatch.setenv("PRETRACE_DEVICE", "cpu")
    step.main()
