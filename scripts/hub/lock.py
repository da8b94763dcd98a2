"""config/hub.lock.yaml: the commit that each revision of a hub repository stands for.

Branches of the hub can be uploaded again. The first job that needs one asks for its commit and
writes it down; whoever has the file gets the same bytes. Remove a line to resolve it again.
"""

import re
from pathlib import Path

import yaml

from scripts.errors import UserError


def key(kind: str, repo: str, revision: str) -> str:
    """The name of a pin: `ns/name@revision` of a model, `datasets/ns/name@revision`."""
    return f"{'datasets/' if kind == 'dataset' else ''}{repo}@{revision}"


def read_lock(path: Path) -> dict[str, str]:
    """All pins; none where the file is not there yet."""
    try:
        # BaseLoader: a commit may look like a number.
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader) or {}
    except FileNotFoundError:
        return {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise UserError(f"{path}{line}: not valid YAML; restore it, or remove it") from error
    if not isinstance(content, dict) or not all(map(_is_commit, content.values())):
        raise UserError(f"{path}: expected `id@revision: commit` lines; restore it, or remove it")
    return content


def _is_commit(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{40}", value) is not None
