"""Weights in pickles or in another layout, written as safetensors: a file at a time."""

import importlib
import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from scripts.errors import UserError
from scripts.hub.files import INDEX, is_pickle

SHARD = 4e9  # bytes of tensors in memory, and of a file


def convert(sources: Sequence[Path], folder: Path, layout: str | None) -> None:
    """Write the tensors of `sources` to `folder` as sharded safetensors with an index.

    `layout` names a module of scripts/models/ that says what each tensor becomes; it also rewrites
    `folder`/config.json. Pickles are read with `weights_only`, which runs no code of theirs.
    """
    module, old = None, {}
    if layout:
        module = importlib.import_module(f"scripts.models.{layout}")
        config = folder / "config.json"
        old = json.loads(config.read_bytes())
        new = json.dumps(module.config(old, str(config)), indent=1)
        config.unlink()  # a link into the cache, which must stay as it is
        config.write_text(new)
    shards: list[list[str]] = []
    held: dict[str, torch.Tensor] = {}
    for name, tensor in _tensors(sources):
        held |= module.tensors(old, name, tensor) if module else {name: tensor}
        if sum(t.nbytes for t in held.values()) >= SHARD:
            shards.append(_save(held, folder, len(shards) + 1))
            held = {}
    if held:
        shards.append(_save(held, folder, len(shards) + 1))
    weight_map = {name: _file(at) for at, names in enumerate(shards, 1) for name in names}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}, indent=1))


def _tensors(sources: Sequence[Path]) -> Iterator[tuple[str, torch.Tensor]]:
    for path in sources:
        if is_pickle(path.name):
            yield from _unpickled(path).items()
            continue
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118 (it is no mapping)
                yield name, file.get_tensor(name)


def _unpickled(path: Path) -> dict[str, torch.Tensor]:
    # Only zip archives can be mapped; older pickles are read whole.
    with path.open("rb") as file:
        mapped = file.read(2) == b"PK"
    try:
        content = torch.load(path, map_location="cpu", mmap=mapped, weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise UserError(
            f"{path}: holds more than tensors, or is damaged ({str(error).splitlines()[0]}); "
            "it is not read"
        ) from error
    return {name: value for name, value in content.items() if isinstance(value, torch.Tensor)}


def _save(tensors: dict[str, torch.Tensor], folder: Path, number: int) -> list[str]:
    # Copies: tied weights share their memory, which a safetensors file may not.
    own = {name: tensor.clone().contiguous() for name, tensor in tensors.items()}
    save_file(own, folder / _file(number), {"format": "pt"})
    return sorted(own)


def _file(number: int) -> str:
    return f"model-{number:05d}.safetensors"
