"""Targets of the command line: unknown names and missing files, each in one line."""

import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from snakemake.cli import parse_args

from scripts.errors import UserError
from scripts.planning.config import nearest
from scripts.planning.registry import Registry
from scripts.planning.study import Study

TARGETS = frozenset({"all", "texts", "tokens", "scores", "metrics"})

# Target rules and steps; a study of one of these names could not be asked for.
RESERVED = (
    TARGETS
    | {"lab_tokenizer", "lab_corpus", "lab_order", "load_texts", "select_texts", "tag"}
    | {"extract", "score", "learn_blind", "gate", "evaluate"}
    | {"table", "figure", "sanity", "report"}
)

# results/{folder}/… and what stands at each level below it.
GRID = {
    "texts": ("datasets",),
    "aside": ("datasets",),
    "tags": ("datasets",),
    "models": ("models",),
    "tokens": ("models", "datasets"),
    "scores": ("models", "datasets", "attacks"),
    "metrics": ("models", "datasets", "attacks"),
    "blind": ("datasets", "baselines"),
    "gates": ("datasets",),
    "studies": ("studies",),
}


def results(config: dict) -> str:
    """The results tree: each lab size but the default has one of its own."""
    size = config["lab_size"]
    return "results" if size == "default" else f"results/{size}"


def model_files(name: str, folder: str) -> list[str]:
    """The files of a local model that decide its token statistics, its config.json first."""
    path = Path(folder)
    weights = sorted(map(str, path.glob("*.safetensors")))
    tokenizer = sorted(map(str, path.glob("tokenizer*.json")))
    if not (path / "config.json").is_file() or not weights:
        raise UserError(
            f"model {name}: {folder} needs config.json and *.safetensors; check its `path`"
        )
    return [str(path / "config.json"), *weights, *tokenizer]


def check_targets(registry: Registry, studies: Mapping[str, Study]) -> None:
    """Raise UserError for a target of the command line with a name that nothing knows.

    What does not look like one of our files or studies is left to Snakemake, which knows its rules.
    """
    prefix = results(registry.config) + "/"
    known = {**vars(registry), "studies": studies}
    asked = set()
    targets = _targets()
    for target in targets:
        if "/" not in target and "." not in target and target not in RESERVED | set(studies):
            raise UserError(f"no target '{target}'{nearest(target, {*TARGETS, *studies})}")
        folder, *parts = target.removeprefix(prefix).split("/")
        kinds = GRID.get(folder, ()) if target.startswith(prefix) else ()
        asked |= {target} & set(studies)
        for kind, part in zip(kinds, parts, strict=False):
            name = part if part in known[kind] else re.sub(r"\.parquet$", "", part)
            if name not in known[kind]:
                one = kind.replace("ies", "ys").removesuffix("s")
                raise UserError(f"target {target}: no {one} '{name}'{nearest(name, known[kind])}")
        if kinds == ("studies",) and len(parts) == 2:
            entry = studies[parts[0]].entry
            items = {*entry["tables"], *entry["figures"], "report", "sanity"}
            name = parts[1].rpartition(".")[0]
            asked.add(parts[0])
            if name not in items:
                raise UserError(f"target {target}: the study has no '{name}'{nearest(name, items)}")

    for study in asked or ({registry.config["study"]} if not targets else ()):
        _check_paths(registry, studies[study])


def _check_paths(registry: Registry, study: Study) -> None:
    """Raise UserError for files and models of a study that are not there.

    Snakemake would not miss the input of an output that it has.
    """
    cells = study.cells()
    for name in dict.fromkeys(cell.model for cell in cells):
        if "path" in registry.models[name]:
            model_files(name, registry.models[name]["path"])
    for name in dict.fromkeys(registry.pool(cell.dataset) for cell in cells):
        entry = registry.datasets[name]
        for key in sorted(entry.keys() & {"path", "aside"}):
            path = Path(entry[key])
            if not path.is_file():
                what = "is a folder, not a file" if path.is_dir() else "is not there"
                raise UserError(f"dataset {name}: {key}: {path} {what} (in {Path.cwd()})")


def _targets() -> list[str]:
    """The targets of the running command line; none where Snakemake was not started by one."""
    try:
        with redirect_stderr(StringIO()):  # it would announce the profile a second time
            return list(parse_args(sys.argv[1:])[1].targets)
    except SystemExit:  # not Snakemake's own command line
        return []
