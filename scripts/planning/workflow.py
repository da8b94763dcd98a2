"""What rules/common.smk asks while Snakemake parses: no numpy, no pandas, no torch."""

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from snakemake.cli import parse_args

from scripts.cli import ERROR
from scripts.errors import UserError
from scripts.planning.closure import code_hash  # noqa: F401 - asked for through this module
from scripts.planning.config import nearest
from scripts.planning.registry import Registry, load_registry
from scripts.planning.study import Cell, Study, load_study

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
        studies[path.stem] = load_study(path, registry, RESERVED)
    if registry.config["study"] not in studies:
        wrong = registry.config["study"]
        raise UserError(f"study: no study '{wrong}'{nearest(wrong, studies)}")
    return registry, studies


def results(config: dict) -> str:
    """The results tree: each lab size but the default has one of its own."""
    size = config["lab_size"]
    return "results" if size == "default" else f"results/{size}"


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
        asked |= {study for study in studies if target == study or [study] == parts[:1]}
        for kind, part in zip(kinds, parts, strict=False):
            name = part if part in known[kind] else re.sub(r"\.parquet$", "", part)
            if name not in known[kind]:
                one = kind.replace("ies", "ys").removesuffix("s")
                raise UserError(f"target {target}: no {one} '{name}'{nearest(name, known[kind])}")
        if kinds == ("studies",) and len(parts) == 2:
            entry = studies[parts[0]].entry
            items = {*entry["tables"], *entry["figures"], "report", "sanity"}
            name = parts[1].partition(".")[0]
            if name not in items:
                raise UserError(f"target {target}: the study has no '{name}'{nearest(name, items)}")

    for study in asked or ({registry.config["study"]} if not targets else ()):
        _check_paths(registry, studies[study])


def _check_paths(registry: Registry, study: Study) -> None:
    """Raise UserError for files and models of a study that are not there.

    Snakemake would not miss the input of an output that it has.
    """
    for cell in study.cells():
        for kind, name in (("models", cell.model), ("datasets", registry.pool(cell.dataset))):
            entry = getattr(registry, kind)[name]
            for key in ("path", "aside") if "path" in entry else ():
                path = Path(entry.get(key, entry["path"]))
                if kind == "datasets" and not path.is_file():
                    what = "is a folder, not a file" if path.is_dir() else "is not there"
                    raise UserError(f"dataset {name}: {key}: {path} {what} (in {Path.cwd()})")
            if kind == "models" and "path" in entry:
                model_files(name, entry["path"])


def _targets() -> list[str]:
    """The targets of the running command line; none where Snakemake was not started by one."""
    try:
        with redirect_stderr(StringIO()):  # it would announce the profile a second time
            return list(parse_args(sys.argv[1:])[1].targets)
    except SystemExit:  # not Snakemake's own command line
        return []


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


def captions(registry: Registry, cells: Iterable[Cell]) -> dict:
    """How a table or figure calls what stands in these cells, and in which order."""
    cells = list(cells)
    models = list(dict.fromkeys(cell.model for cell in cells))
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    attacks = list(dict.fromkeys(cell.attack for cell in cells))
    baselines = list(dict.fromkeys(b for d in datasets for b in registry.baselines_of(d)))
    names = {"models": models, "datasets": datasets, "attacks": attacks, "baselines": baselines}
    entries = registry.datasets
    return {
        "titles": {
            kind: {name: registry.title(kind, name) for name in group}
            for kind, group in names.items()
        },
        "notes": {name: entries[name]["note"] for name in datasets if "note" in entries[name]},
        "order": names,
        "pools": {name: registry.pool(name) for name in datasets},
    }


def report_settings(registry: Registry, study: Study) -> dict:
    """What a study's report says of it beyond its results."""
    items = {**study.entry["tables"], **study.entry["figures"]}
    config = registry.config
    return {
        "study": study.name,
        "title": study.title,
        "question": study.entry["question"],
        "captions": {
            name: {"title": item.get("title", name), "text": item.get("caption", "")}
            for name, item in items.items()
        },
        **captions(registry, study.cells()),
        "jobs": jobs(registry, study),
        "provenance": {key: config[key] for key in ("seed", "bootstrap", "lab_size")},
    }


def jobs(registry: Registry, study: Study) -> list[str]:
    """Benchmark files of the study's jobs, relative to the benchmarks folder, without ending."""
    found: dict[str, None] = {}
    for model, dataset, attack in study.cells():
        pool = registry.pool(dataset)
        entry = registry.models[model]
        if entry["source"] == "lab":
            found[f"train/{entry['training']}"] = None
        found[f"tag/{pool}"] = None
        found[f"extract/{model}/{pool}/original"] = None
        found[f"score/{model}/{pool}/{attack}"] = None
        found[f"evaluate/{model}/{dataset}/{attack}"] = None
        found |= {f"learn_blind/{dataset}/{name}": None for name in registry.baselines_of(dataset)}
    return list(found)


def content_hash(path: Path) -> str:
    """Digest of a file that is not Python but decides an output, e.g. a template."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
