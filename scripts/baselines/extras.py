"""Data files of optional packages, found without running the packages' code."""

import importlib.util
from pathlib import Path

from scripts.errors import UserError


def folder(package: str, distribution: str, baseline: str) -> Path:
    """Where `package` is installed; UserError that says how to get it, if it is not."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(
            f"the blind baseline '{baseline}' needs the optional package {distribution}; run "
            "`make extras` (it installs requirements-blind.txt), or leave the baseline out"
        )
    return Path(spec.submodule_search_locations[0])
