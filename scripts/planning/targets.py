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
from scripts.planning.local import named_files
from scripts.planning.publishing import everything
from scripts.planning.registry import Registry
from scripts.planning.study import Study

TARGETS = frozenset({"all", "texts", "tokens", "scores", "metrics"})

# Target rules and steps; a study of one of these names could not be asked for.
RESERVED = (
    TARGETS
    | {"make_view", "extract_shard", "count_tokens", "take_gradients", "generate"}
    | {"ask", "describe_gguf"}
    | {"audit_weights", "fetch_model", "fetch_dataset"}
    | {"count_exposures", "rebuild_order", "sample_rows", "audit_overlap"}
    | {"lab_tokenizer", "lab_corpus", "lab_order", "load_texts", "select_texts", "tag"}
    | {"extract", "score", "learn_blind", "gate", "evaluate"}
    | {"table", "figure", "sanity", "report"}
    | {"combine", "cross", "calibrate", "aggregate", "infer", "compare"}
)

# results/{folder}/… and what stands at each level below it.
GRID = {
    "texts": ("datasets", "views"),
    "aside": ("datasets",),
    "datasets": ("datasets",),
    "tags": ("datasets",),
    "models": ("models",),
    "audits": ("models",),
    "exposures": ("families",),
    "overlap": ("datasets",),
    "tokens": ("models", "datasets", "views"),
    "counts": ("models", "datasets"),
    "gradients": ("models", "datasets"),
    "generations": ("models", "datasets"),
    "scores": ("models", "datasets", "attacks"),
    "metrics": ("models", "datasets", "attacks"),
    "blind": ("datasets", "baselines"),
    "gates": ("datasets",),
    "ensembles": ("models", "datasets", "ensembles"),
    "transfers": ("models", "transfers"),
    "calibration": ("models", "datasets", "attacks"),
    "groups": ("models", "datasets", "attacks"),
    "inferences": ("models", "datasets", "inferences"),
    "comparisons": ("models", "datasets", "comparisons"),
    "studies": ("studies",),
}


def results(config: dict) -> str:
    """The results tree: each lab size but the default has one of its own."""
    size = config["lab_size"]
    return "results" if size == "default" else f"results/{size}"


def check_targets(registry: Registry, studies: Mapping[str, Study]) -> None:
    """Raise UserError for a target of the command line with a name that nothing knows.

    What does not look like one of our files or studies is left to Snakemake, which knows its rules.
    """
    prefix = results(registry.config) + "/"
    known = {**vars(registry), "studies": studies}
    known["attacks"] = {**registry.attacks, **registry.ensembles}
    known["views"] = {"original", *registry.views}
    asked = set()
    targets = _targets()
    names = RESERVED | set(studies) | {f"plan_{study}" for study in studies}
    for target in targets:
        if "/" not in target and "." not in target and target not in names:
            raise UserError(f"no target '{target}'{nearest(target, names - RESERVED | TARGETS)}")
        folder, *parts = target.removeprefix(prefix).split("/")
        kinds = GRID.get(folder, ()) if target.startswith(prefix) else ()
        asked |= {target} & set(studies)
        for kind, part in zip(kinds, parts, strict=False):
            name = part if part in known[kind] else re.sub(r"\.(parquet|json)$", "", part)
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
    cells = everything(registry, study)
    for name in dict.fromkeys(cell.model for cell in cells):
        named_files(name, registry.models[name])
    for name in dict.fromkeys(registry.pool(cell.dataset) for cell in cells):
        entry = registry.datasets[name]
        paths = {"path", "aside"} if entry["source"] == "file" else ()
        for key in sorted(entry.keys() & paths):
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
