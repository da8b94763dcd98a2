"""What an attack needs of a model, against what the model's source can give."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from scripts.errors import UserError

if TYPE_CHECKING:
    from scripts.planning.registry import Registry

URL = re.compile(r"https?://[^/@?#\s]+(/[^@?#\s]*)?")
PREFIXED = "shots"  # the module of views that put a prefix before a text
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")

Lacking = Mapping[tuple[str, str], str]  # (model, attack or ensemble): what it needs


def check_endpoint(entry: Mapping, at: str) -> None:
    """Raise UserError for an entry whose address or key would let a secret into files.

    The message does not repeat what stands there: it may be a key.
    """
    if not URL.fullmatch(entry["url"]):
        raise UserError(
            f"{at}.url: expected http(s)://host/v1 without user, password and query; a key belongs "
            "into the environment"
        )
    if not VARIABLE.fullmatch(entry["key_variable"]):
        raise UserError(
            f"{at}.key_variable: expected the name of an environment variable such as "
            "OPENAI_API_KEY; the key itself must not stand in a file"
        )


def lacking(registry: "Registry", model: str, attack: str) -> str:
    """What an attack or ensemble needs that `model`, or one it is compared with, does not give.

    One of the values of `access` in config/attacks.yaml, or "ids": prompts of token ids, which
    texts behind a prefix take; "" where nothing is lacking.
    """
    for name in registry.attacks_of(attack):
        entry = registry.attacks[name]
        models = [model, *(_reference(registry, model, role) for role in entry["references"])]
        if not all(_gives(registry.models[other], entry["access"]) for other in models):
            return entry["access"]
        prefixed = any(registry.views[view]["module"] == PREFIXED for view in entry["views"])
        if prefixed and registry.models[model].get("prompt") == "text":
            return "ids"
    return ""


def refuse_lacking(registry: "Registry", model: str, attack: str) -> None:
    """Raise UserError where `model` does not give what an attack needs."""
    if needed := lacking(registry, model, attack):
        raise UserError(
            f"attack {attack} cannot be had on model {model}: it needs access '{needed}', which an "
            "endpoint does not give (docs/endpoints.md)"
        )


def left_out(registry: "Registry", blocks: Iterable[Mapping]) -> Lacking:
    """The models and attacks of a study's blocks that cannot be had together."""
    return {
        (model, attack): needed
        for block in blocks
        for model in block["models"]
        for attack in block["attacks"]
        if (needed := lacking(registry, model, attack))
    }


def _reference(registry: "Registry", model: str, role: str) -> str:
    """The model with this role, or `model` where it has none: that is another mistake."""
    return registry.models[model]["references"].get(role, model)


def _gives(entry: Mapping, access: str) -> bool:
    if entry["source"] != "endpoint":
        return True
    return access == "token" or (access == "top" and entry["top"])
