"""Which files of a repository make a model folder."""

from collections.abc import Collection, Mapping

from scripts.errors import UserError

INDEX = "model.safetensors.index.json"
PICKLE_INDEX = "pytorch_model.bin.index.json"
SMALL = (
    "config.json",
    "generation_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)


def small_files(names: Collection[str], code: bool = False) -> list[str]:
    """Everything but the weights; with `code`, the modules that the repository brings along."""
    chosen = [name for name in (*SMALL, weight_index(names)) if name in names]
    return chosen + sorted(name for name in names if code and name.endswith(".py"))


def weight_index(names: Collection[str]) -> str | None:
    """The file that lists the weights, where they are several; None for a single file.

    In the order of transformers' own loader: one safetensors file, several, one pickle, several.
    """
    for single, index in (
        ("model.safetensors", INDEX),
        ("pytorch_model.bin", PICKLE_INDEX),
    ):
        if single in names:
            return None
        if index in names:
            return index
    return None


def weight_files(names: Collection[str], index: Mapping | None, where: str) -> list[str]:
    """The weights: those of the parsed `index`, else the single file."""
    if index is not None:
        chosen = sorted(set(index["weight_map"].values()))
        missing = [name for name in chosen if name not in names]
        if missing:
            raise UserError(f"{where}: its weights are incomplete on the hub: no {missing[0]}")
        return chosen
    for name in ("model.safetensors", "pytorch_model.bin"):
        if name in names:
            return [name]
    raise UserError(f"{where}: it has no model.safetensors and no pytorch_model.bin")


def is_pickle(name: str) -> bool:
    """Whether a weight file can run code when it is loaded."""
    return not name.endswith(".safetensors")
