"""The registries: models, datasets, attacks and baselines by name, checked and resolved."""

from dataclasses import dataclass, field
from pathlib import Path

from scripts.errors import UserError
from scripts.planning.config import check, load, nearest, read
from scripts.planning.settings import expand


@dataclass(frozen=True)
class Registry:
    """What every name stands for. Entries that a study brings along are called {study}.{name}."""

    config: dict
    lab: dict  # the chosen size of config/lab.yaml
    models: dict[str, dict] = field(default_factory=dict)
    datasets: dict[str, dict] = field(default_factory=dict)
    attacks: dict[str, dict] = field(default_factory=dict)
    baselines: dict[str, dict] = field(default_factory=dict)
    schema: Path = Path("config/schema.yaml")

    def pool(self, dataset: str) -> str:
        """The dataset whose pass and scores `dataset` shares: itself unless it is a selection."""
        while "of" in self.datasets[dataset]:
            dataset = self.datasets[dataset]["of"]
        return dataset

    def settings(self, attack: str) -> dict[str, dict]:
        """Setting names (columns of scores) of an attack, with their parameters."""
        return expand(attack, self.attacks[attack]["settings"])

    def baselines_of(self, dataset: str) -> dict[str, list[str]]:
        """The blind baselines that judge a dataset, with their classifiers."""
        entry = self.datasets[dataset]
        names = entry.get("baselines", self.config["baselines"])
        return {
            name: entry.get("classifiers", self.baselines[name]["classifiers"]) for name in names
        }

    def title(self, kind: str, name: str) -> str:
        """How tables call a model, dataset, attack or baseline."""
        return getattr(self, kind)[name]["title"]

    def add_models(self, entries: dict[str, dict], where: str, prefix: str = "") -> None:
        """Check model entries and put them in; `where` names their file in errors."""
        check(entries, "models", self.schema, where)
        for name, entry in entries.items():
            at = f"{where}: {name}"
            entry = check(entry, f"model_{entry['source']}", self.schema, at)
            if entry["source"] == "lab":
                trainings = self.lab["trainings"]
                if entry["training"] not in trainings:
                    wrong = entry["training"]
                    raise UserError(f"{at}.training: no '{wrong}'{nearest(wrong, trainings)}")
                steps = trainings[entry["training"]]["checkpoints"]
                if entry["step"] not in steps:
                    raise UserError(f"{at}.step: {entry['step']} is no checkpoint; valid: {steps}")
            self.models[prefix + name] = {"title": name, **entry}

    def add_datasets(self, entries: dict[str, dict], where: str, prefix: str = "") -> None:
        """Check dataset entries and put them in; `where` names their file in errors."""
        check(entries, "datasets", self.schema, where)
        for name, entry in entries.items():
            at = f"{where}: {name}"
            source = entry.get("source", "file")
            kinds = {"lab": "dataset_lab", "file": "dataset_file"}
            if "of" not in entry and source not in kinds:
                raise UserError(f"{at}.source: '{source}' is not valid{nearest(source, kinds)}")
            kind = "dataset_selection" if "of" in entry else kinds[source]
            entry = check(entry, kind, self.schema, at)
            if entry.get("source") == "lab" and entry["pool"] not in self.lab["pools"]:
                wrong = entry["pool"]
                raise UserError(f"{at}.pool: no '{wrong}'{nearest(wrong, self.lab['pools'])}")
            for wrong in set(entry.get("baselines", [])) - set(self.baselines):
                raise UserError(f"{at}.baselines: no '{wrong}'{nearest(wrong, self.baselines)}")
            if "of" in entry:
                known = {**self.datasets, **{prefix + other: None for other in entries}}
                of = prefix + entry["of"] if prefix + entry["of"] in known else entry["of"]
                if of not in known:
                    raise UserError(f"{at}.of: no dataset '{of}'{nearest(of, known)}")
                if ("members" in entry) != ("nonmembers" in entry) or (
                    "members" not in entry and "where" not in entry
                ):
                    raise UserError(f"{at}: give `members` and `nonmembers`, or `where`")
                entry = {**entry, "of": of}
            self.datasets[prefix + name] = {"title": name, **entry}
        for name in entries:
            self._refuse_cycle(prefix + name, f"{where}: {name}.of")

    def add_attacks(self, entries: dict[str, dict], where: str, prefix: str = "") -> None:
        """Check attack entries and put them in; `where` names their file in errors."""
        check(entries, "attacks", self.schema, where)
        modules = {path.stem for path in (self.schema.parents[1] / "scripts/attacks").glob("*.py")}
        for name, entry in entries.items():
            at = f"{where}: {name}"
            entry = {"module": name, **check(entry, "attack", self.schema, at)}
            if entry["module"] not in modules:
                wrong = entry["module"]
                raise UserError(f"{at}: no scripts/attacks/{wrong}.py{nearest(wrong, modules)}")
            try:
                expand(prefix + name, entry["settings"])
            except ValueError as error:
                raise UserError(f"{at}.settings: {error}") from None
            self.attacks[prefix + name] = entry

    def add_baselines(self, entries: dict[str, dict], where: str) -> None:
        """Check baseline entries and put them in; `where` names their file in errors."""
        check(entries, "baselines", self.schema, where)
        for name, entry in entries.items():
            self.baselines[name] = check(entry, "baseline", self.schema, f"{where}: {name}")

    def _refuse_cycle(self, dataset: str, at: str) -> None:
        seen: list[str] = []
        while "of" in self.datasets[dataset]:
            if dataset in seen:
                raise UserError(f"{at}: {' of '.join([*seen, dataset])} goes in a circle")
            seen.append(dataset)
            dataset = self.datasets[dataset]["of"]


def load_registry(root: Path, overrides: dict) -> Registry:
    """Read config/ below `root`; `overrides` are keys of config.yaml given on the command line."""
    folder = root / "config"
    schema = folder / "schema.yaml"
    content = {**load(folder / "config.yaml", "config", schema), **overrides}
    config = check(content, "config", schema, str(folder / "config.yaml"))
    registry = Registry(config, read(folder / "lab.yaml")[config["lab_size"]], schema=schema)
    # Baselines first: datasets name them.
    for kind in ("baselines", "models", "datasets", "attacks"):
        path = folder / f"{kind}.yaml"
        getattr(registry, f"add_{kind}")(read(path), str(path))
    for kind in ("attacks", "baselines"):
        for name in config[kind]:
            if name not in getattr(registry, kind):
                hint = nearest(name, getattr(registry, kind))
                raise UserError(f"{folder / 'config.yaml'}: {kind}: no '{name}'{hint}")
    return registry
