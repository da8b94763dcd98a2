"""A tiny GPT-NeoX in the shape of a hub repository, for tests."""

from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

SHAPE = dict(
    vocab_size=256,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=64,
)


def write_model(folder: Path, seed: int, shards: int = 1) -> None:
    """A GPT-NeoX with random weights of `seed` and a tokenizer of one token per byte."""
    torch.manual_seed(seed)
    model = transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**SHAPE))
    model.save_pretrained(folder, max_shard_size="10KB" if shards > 1 else "1GB")
    write_tokenizer(folder)


def write_tokenizer(folder: Path) -> None:
    """A tokenizer whose ids are bytes, in the order of the byte-level alphabet."""
    alphabet = sorted(ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text("{}")


def pickled(folder: Path) -> None:
    """Replace the safetensors weights of a folder by a pickle of the same tensors."""
    path = folder / "model.safetensors"
    torch.save(load_file(path), folder / "pytorch_model.bin")
    path.unlink()
