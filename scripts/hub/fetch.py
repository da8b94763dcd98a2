"""A model of the hub: its files in the cache, checked, and a folder of links to them.

Out: hub.json, what the folder holds and where it comes from; beside it links to config.json,
tokenizer and safetensors weights, so that the pass reads it as any model folder. Pickles and other
layouts, where the entry allows them, become safetensors there.

Settings: id, revision (branch, tag or commit), layout (a module of scripts/models/, or null),
allow_pickle, trust_remote_code; pin: what scripts/planning/pins.py planned it with, kept beside.
"""

import json
from collections.abc import Mapping

from scripts.cli import arguments, run
from scripts.errors import UserError
from scripts.hub import manifest
from scripts.hub.cache import fetch
from scripts.hub.client import Repo, tree
from scripts.hub.files import is_pickle, small_files, weight_files, weight_index
from scripts.hub.pin import pin


def main() -> None:
    """Fetch one model and write its manifest."""
    args = arguments(__doc__, ["lock", "manifest"])
    entry = args.settings
    repo = Repo("model", entry["id"])
    commit = pin(args.lock, repo, entry["revision"])
    files = tree(repo, commit)
    where = f"{repo}@{entry['revision']}"
    if "config.json" not in files:
        raise UserError(f"{where}: it has no config.json; it is not a model of transformers")
    if "tokenizer.json" not in files:
        raise UserError(
            f"{where}: no tokenizer.json, and character offsets need a fast tokenizer; make a "
            "folder with one (docs/models.md) and use `source: local`"
        )
    small = fetch(repo, commit, small_files(files, entry["trust_remote_code"]))
    config = json.loads(small["config.json"].read_bytes())
    if not entry["trust_remote_code"] and not entry["layout"]:
        refuse_remote_code(config, where)
    index = weight_index(files)
    content = json.loads(small.pop(index).read_bytes()) if index else None
    names = weight_files(files, content, where)
    pickles = [name for name in names if is_pickle(name)]
    if pickles and not entry["allow_pickle"]:
        raise UserError(
            f"{where}: its weights are pickles only ({pickles[0]}), which can run code when they "
            "are loaded; `allow_pickle: true` in its entry reads their tensors and nothing else"
        )
    paths = {**small, **fetch(repo, commit, names)}
    folder = args.manifest.parent
    manifest.clear(folder)
    converted = bool(pickles or entry["layout"])
    weights = [paths.pop(name) for name in names] if converted else []
    if index and not converted:
        paths[index] = fetch(repo, commit, [index])[index]
    manifest.link(folder, paths)
    if converted:
        from scripts.hub.convert import convert  # torch, which few models need here

        convert(weights, folder, entry["layout"])
    used = sorted([*small, *names, *([index] if index else [])])
    about = {key: entry[key] for key in ("id", "revision", "layout")} | {"commit": commit}
    manifest.write(args.manifest, about, {name: files[name] for name in used}, entry["pin"])


def refuse_remote_code(config: Mapping, where: str) -> None:
    """Raise UserError for a model that only code of its repository can load."""
    if "auto_map" not in config:
        return
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES  # slow to import

    if config.get("model_type") not in CONFIG_MAPPING_NAMES:
        raise UserError(
            f"{where}: transformers does not know {config.get('model_type')!r}; it needs code from "
            "its repository, which runs with your rights. Read it, and if you trust it set "
            "`trust_remote_code: true` in its entry"
        )


if __name__ == "__main__":
    run(main)
