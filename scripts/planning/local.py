"""Files of models on this machine that entries name."""

from collections.abc import Mapping
from pathlib import Path

from scripts.errors import UserError


def named_files(name: str, entry: Mapping) -> list[str]:
    """The files that a model's entry names and that decide its token statistics.

    UserError where one of them is not there.
    """
    match entry["source"]:
        case "local":
            return model_files(name, entry["path"])
        case "gguf":
            return gguf_files(name, entry)
        case "endpoint":
            return [tokenizer_file(name, entry["tokenizer"])]
    return []


def model_files(name: str, folder: str) -> list[str]:
    """The files of a local model that decide its token statistics, its config.json first."""
    path = Path(folder)
    if path.suffix == ".gguf":
        raise UserError(f"model {name}: {folder} is a GGUF file; write `source: gguf`")
    weights = sorted(map(str, path.glob("*.safetensors")))
    tokenizer = sorted(map(str, path.glob("tokenizer*.json")))
    if not (path / "config.json").is_file() or not weights:
        raise UserError(
            f"model {name}: {folder} needs config.json and *.safetensors; check its `path`"
        )
    return [str(path / "config.json"), *weights, *tokenizer]


def gguf_files(name: str, entry: Mapping) -> list[str]:
    """A GGUF file, and the tokenizer.json to use in place of its own vocabulary, if there is one.

    UserError where one of them is not there.
    """
    if not Path(entry["path"]).is_file():
        raise UserError(f"model {name}: {entry['path']} is not there; check its `path`")
    others = [tokenizer_file(name, entry["tokenizer"])] if "tokenizer" in entry else []
    return [entry["path"], *others]


def tokenizer_file(name: str, given: str) -> str:
    """The tokenizer.json that an entry names itself or by its folder."""
    path = Path(given)
    path = path / "tokenizer.json" if path.is_dir() else path
    if path.name != "tokenizer.json" or not path.is_file():
        raise UserError(
            f"model {name}: tokenizer: {given} is no tokenizer.json and no folder with one; "
            "docs/endpoints.md says where to get it"
        )
    return str(path)
