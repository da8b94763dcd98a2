"""What tables, figures and reports are told beyond results: titles, order, captions, jobs."""

from collections.abc import Iterable, Iterator

from scripts.planning.access import Lacking, lacking
from scripts.planning.deciding import CALLS, SHOWN, attacks_shown, files_shown
from scripts.planning.registry import Registry
from scripts.planning.study import Cell, Study

# The rule behind each folder of results that the tables of some kinds are made from.
_RULES = {
    "transfers": "cross",
    "inferences": "infer",
    "comparisons": "compare",
    "calibration": "calibrate",
    "groups": "aggregate",
}


def shown(study: Study, kind: str, item: dict) -> list[Cell]:
    """The cells of metrics that a table or figure (`kind`) is made from.

    A table reads all attacks: Holm's family is all settings of a model and dataset in the study.
    Tables of decisions have files of their own instead.
    """
    if item["kind"] in SHOWN or item["kind"] == CALLS:
        return []
    keys = ("models", "datasets") if kind == "tables" else ("models", "datasets", "attacks")
    return study.cells(**{key: item[key] for key in keys if key in item})


def found(registry: Registry, study: Study, item: dict) -> list[str]:
    """What a table or figure is made from beyond metrics: paths in results/, without ending."""
    attacks = dict.fromkeys(cell.attack for cell in study.cells())
    return files_shown(registry, item, study.pairs(item), attacks or registry.config["attacks"])


def gated(registry: Registry, study: Study, kind: str, item: dict) -> list[str]:
    """The datasets of a table or figure that blind baselines judge: those of the study's blocks."""
    judged = {cell.dataset for cell in study.cells()}
    cells = [*shown(study, kind, item), *_cells_behind(registry, study, item)]
    datasets = dict.fromkeys(cell.dataset for cell in cells if cell.dataset in judged)
    return [dataset for dataset in datasets if registry.baselines_of(dataset)]


def item_settings(registry: Registry, study: Study, kind: str, name: str) -> dict:
    """What a table or figure is told."""
    item = study.entry[kind][name]
    cells = [*shown(study, kind, item), *_cells_behind(registry, study, item)]
    return {
        "study": study.name,
        "name": name,
        "title": name,
        **captions(registry, cells),
        **(_calls(registry, study, item) if item["kind"] == CALLS else {}),
        **item,
        **_not_available(registry, study, item),
    }


def _not_available(registry: Registry, study: Study, item: dict) -> dict:
    """What a table or figure says of models that give less than its attacks need, if any do."""
    blocks = study.entry["blocks"]
    models = item.get("models", [model for block in blocks for model in block["models"]])
    default = [attack for block in blocks for attack in block["attacks"]]
    attacks = attacks_shown(registry, item, default)
    needs = {
        (model, attack): needed
        for model in models
        for attack in attacks
        if (needed := lacking(registry, model, attack))
    }
    if not needs:
        return {}
    found = {"lacking": remarks(registry, needs)}
    if "settings" in item:
        there = {attack for model in models for attack in attacks if (model, attack) not in needs}
        known = {setting for attack in there for setting in registry.settings(attack)}
        found["settings"] = [setting for setting in item["settings"] if setting in known]
    return found


def remarks(registry: Registry, needs: Lacking) -> list[dict]:
    """Which attacks cannot be had on which model and what they need, by their titles."""
    groups: dict[tuple[str, str], list[str]] = {}
    for (model, attack), needed in needs.items():
        titles = groups.setdefault((registry.title("models", model), needed), [])
        titles.append(registry.title("attacks", attack))
    return [
        {"model": model, "needs": needed, "attacks": list(dict.fromkeys(titles))}
        for (model, needed), titles in groups.items()
    ]


def _calls(registry: Registry, study: Study, item: dict) -> dict:
    """What a table of calibrations is told: the target FPR, and what it shows on its own."""
    return {"fpr": registry.config["calibration_fpr"], "places": study.pairs(item)}


def everything(registry: Registry, study: Study) -> list[Cell]:
    """All models, datasets and attacks that a study reads, in a block or in a table alone."""
    items = [*study.entry["tables"].values(), *study.entry["figures"].values()]
    behind = [cell for item in items for cell in _cells_behind(registry, study, item)]
    return [*study.cells(), *behind]


def _cells_behind(registry: Registry, study: Study, item: dict) -> list[Cell]:
    """Models, datasets and attacks behind the files beyond metrics of a table or figure."""
    entry = getattr(registry, SHOWN[item["kind"]])[item["of"]] if item["kind"] in SHOWN else {}
    cells = []
    for path in found(registry, study, item):
        _, model, *rest = path.split("/")
        datasets = entry.get("datasets", rest[:1])
        attacks = entry.get("attacks", rest[1:])
        if item["kind"] == CALLS and "calibration" in registry.datasets[rest[0]]:
            datasets = [*datasets, registry.datasets[rest[0]]["calibration"]]
        cells += [Cell(model, dataset, attack) for dataset in datasets for attack in attacks]
    return cells


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
        **({"lacking": remarks(registry, study.lacking)} if study.lacking else {}),
        "jobs": jobs(registry, study),
        "provenance": {key: config[key] for key in ("seed", "bootstrap", "lab_size")},
    }


def jobs(registry: Registry, study: Study) -> list[str]:
    """Benchmark files of the study's jobs, relative to the benchmarks folder, without ending."""
    names: dict[str, None] = {}
    for model, dataset, attack in everything(registry, study):
        pool = registry.pool(dataset)
        names[f"tag/{pool}"] = None
        names |= dict.fromkeys(_reading(registry, model, pool, "original"))
        for name in registry.attacks_of(attack):
            names |= dict.fromkeys(_read_further(registry, model, pool, name))
            names[f"score/{model}/{pool}/{name}"] = None
    for model, dataset, attack in study.cells():
        if attack in registry.ensembles:
            names[f"combine/{model}/{dataset}/{attack}"] = None
        names[f"evaluate/{model}/{dataset}/{attack}"] = None
        names |= {f"learn_blind/{dataset}/{name}": None for name in registry.baselines_of(dataset)}
    for item in [*study.entry["tables"].values(), *study.entry["figures"].values()]:
        for path in found(registry, study, item):
            folder, _, rest = path.partition("/")
            names[f"{_RULES[folder]}/{rest}"] = None
    return list(names)


def _reading(registry: Registry, model: str, pool: str, view: str) -> Iterator[str]:
    """The jobs of one pass: the training of a lab model, the view, the reading."""
    entry = registry.models[model]
    if entry["source"] == "lab":
        yield f"train/{entry['training']}"
    if view in registry.views and registry.rewritten(registry.views[view]):
        yield f"make_view/{pool}/{view}"
    step = "ask" if entry["source"] == "endpoint" else "extract"
    of = entry.get("shards", 1)
    yield f"{step}/{model}/{pool}/{view}"
    if of > 1:
        yield from (f"{step}/{model}/{pool}/{view}/{i}-of-{of}" for i in range(1, of + 1))


def _read_further(registry: Registry, model: str, pool: str, attack: str) -> Iterator[str]:
    """The jobs behind what an attack reads beyond the texts themselves."""
    entry = registry.attacks[attack]
    for view in entry["views"]:
        yield from _reading(registry, model, pool, view)
    for role in entry["references"]:
        yield from _reading(registry, registry.reference(model, role), pool, "original")
    for need, step in (("gradients", "take_gradients"), ("generations", "generate")):
        if need in entry["needs"]:
            yield f"{step}/{model}/{pool}"
