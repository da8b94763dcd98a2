"""What rules/common.smk asks while Snakemake parses: no numpy, no pandas, no torch."""

import hashlib
import os
import sys
from collections.abc import Iterable, MutableMapping
from pathlib import Path

from scripts.cli import ERROR
from scripts.errors import UserError
from scripts.planning.access import refuse_lacking
from scripts.planning.closure import code_hash
from scripts.planning.config import nearest
from scripts.planning.local import named_files
from scripts.planning.pins import planned_pin
from scripts.planning.publishing import (
    everything,
    found,
    gated,
    item_settings,
    report_settings,
    shown,
)
from scripts.planning.registry import Registry, load_registry
from scripts.planning.study import Study, load_study
from scripts.planning.targets import RESERVED, check_targets, results

__all__ = [
    "UserError",
    "check_targets",
    "code_hash",
    "content_hash",
    "everything",
    "found",
    "gated",
    "gpus",
    "item_settings",
    "load",
    "named_files",
    "planned_pin",
    "prepare",
    "print_error",
    "print_errors",
    "refuse_lacking",
    "report_settings",
    "results",
    "shown",
]


def load(root: Path, overrides: dict) -> tuple[Registry, dict[str, Study]]:
    """The registry and all studies: those of config/studies/ and those that the config adds."""
    registry = load_registry(root, overrides)
    studies: dict[str, Study] = {}
    folder = root / "config" / "studies"
    for path in folder.glob("*.yml"):
        raise UserError(f"{path}: studies end in .yaml; rename it to {path.stem}.yaml")
    paths = sorted(folder.glob("*.yaml"))
    for path in [*paths, *map(Path, registry.config["studies"])]:
        if path.stem in studies:
            raise UserError(f"{path}: there is a study '{path.stem}' already; rename the file")
        plans = {f"plan_{study}" for study in studies}
        studies[path.stem] = load_study(path, registry, RESERVED | plans)
    if registry.config["study"] not in studies:
        wrong = registry.config["study"]
        raise UserError(f"study: no study '{wrong}'{nearest(wrong, studies)}")
    return registry, studies


def gpus(device: str) -> int:
    """GPUs that a pass asks for: one where the device is or may be a GPU; torch stays out."""
    if device == "auto":
        return int(Path("/proc/driver/nvidia/gpus").is_dir())
    return int(device in ("cuda", "mps"))


def prepare(environment: MutableMapping[str, str], device: str) -> None:
    """Set what jobs inherit from Snakemake's own environment.

    `python` in a rule is the one that runs Snakemake, unless a conda env comes first. The device is
    no param, because it does not decide what is computed.
    """
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PRETRACE_DEVICE"] = device


def print_errors(logs: str | Iterable[str]) -> None:
    """Print each user error in Snakemake's logs once more, as the last lines on the screen."""
    found: dict[str, None] = {}
    for log in [logs] if isinstance(logs, str) else logs:
        for line in Path(log).read_text(errors="replace").splitlines():
            if line.strip().startswith(ERROR):
                found[line.strip()] = None
    for line in found:
        print_error(line.removeprefix(ERROR))


def print_error(message: str) -> None:
    """Print what the user can mend, as steps do."""
    print(f"{ERROR}{message}", file=sys.stderr, flush=True)


def content_hash(path: Path) -> str:
    """Digest of a file that is not Python but decides an output, e.g. a template."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
