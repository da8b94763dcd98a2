"""What tables, figures and reports are told beyond results: titles, order, captions, jobs."""

from collections.abc import Iterable

from scripts.planning.registry import Registry
from scripts.planning.study import Cell, Study


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
