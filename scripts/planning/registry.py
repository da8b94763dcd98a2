"""The registries: models, datasets, attacks and baselines by name, checked and resolved."""

from dataclasses import dataclass, field
from pathlib import Path

from scripts.errors import UserError
from scripts.planning.access import check_endpoint
from scripts.planning.benchmarks import PUBLISHED, check_hub
from scripts.planning.config import check, load, nearest, read
from scripts.planning.families import DRAWN, check_drawn, check_family
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
    families: dict[str, dict] = field(default_factory=dict)
    views: dict[str, dict] = field(default_factory=dict)
    # What studies bring along beyond attacks: scripts/planning/deciding.py.
    ensembles: dict[str, dict] = field(default_factory=dict)
    transfers: dict[str, dict] = field(default_factory=dict)
    inferences: dict[str, dict] = field(default_factory=dict)
    comparisons: dict[str, dict] = field(default_factory=dict)
    schema: Path = Path("config/schema.yaml")

    def pool(self, dataset: str) -> str:
        """The dataset whose pass and scores `dataset` shares: itself unless it is a selection."""
        while "of" in self.datasets[dataset]:
            dataset = self.datasets[dataset]["of"]
        return dataset

    def settings(self, attack: str) -> dict[str, dict]:
        """Setting names (columns of scores) of an attack, with their parameters.

        An ensemble has one setting, called like itself.
        """
        if attack in self.ensembles:
            return {attack: {}}
        return expand(attack, self.attacks[attack]["settings"])

    def attacks_of(self, name: str) -> list[str]:
        """The attacks whose scores `name` needs: an attack is its own, an ensemble has several."""
        return self.ensembles[name]["attacks"] if name in self.ensembles else [name]

    def baselines_of(self, dataset: str) -> dict[str, list[str]]:
        """The blind baselines that judge a dataset, with their classifiers."""
        entry = self.datasets[dataset]
        names = entry.get("baselines", self.config["baselines"])
        return {
            name: entry.get("classifiers", self.baselines[name]["classifiers"]) for name in names
        }

    def reference(self, model: str, role: str) -> str:
        """The model that has this role for `model`; UserError where its entry names none."""
        references = self.models[model]["references"]
        if role not in references:
            hint = nearest(role, references) if references else "; it has none"
            raise UserError(f"model {model}: no reference '{role}'{hint}")
        return references[role]

    def title(self, kind: str, name: str) -> str:
        """How tables call a model, dataset, attack (or ensemble) or baseline."""
        entries = self.ensembles if name in self.ensembles else getattr(self, kind)
        return entries[name]["title"]

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
            if entry["source"] == "endpoint":
                check_endpoint(entry, at)
            self.models[prefix + name] = {"title": name, **entry}
        for name in entries:
            entry = self.models[prefix + name]
            entry["references"] = {
                role: self._model(other, prefix, f"{where}: {name}.references.{role}")
                for role, other in entry["references"].items()
            }

    def add_families(self, entries: dict[str, dict], where: str) -> None:
        """Check entries of published models' training orders and put them in."""
        check(entries, "families", self.schema, where)
        for name, entry in entries.items():
            self.families[name] = check_family(entry, self.schema, f"{where}: {name}")

    def add_datasets(self, entries: dict[str, dict], where: str, prefix: str = "") -> None:
        """Check dataset entries and put them in; `where` names their file in errors."""
        check(entries, "datasets", self.schema, where)
        for name, entry in entries.items():
            at = f"{where}: {name}"
            source = entry.get("source", "file")
            kinds = {kind: f"dataset_{kind}" for kind in ("lab", "file", "view", "hub", *DRAWN)}
            if "of" not in entry and source not in kinds:
                raise UserError(f"{at}.source: '{source}' is not valid{nearest(source, kinds)}")
            kind = "dataset_selection" if "of" in entry else kinds[source]
            entry = check(entry, kind, self.schema, at)
            if entry.get("source") == "lab" and entry["pool"] not in self.lab["pools"]:
                wrong = entry["pool"]
                raise UserError(f"{at}.pool: no '{wrong}'{nearest(wrong, self.lab['pools'])}")
            if entry.get("source") in DRAWN:
                entry = check_drawn(entry, self.families, at)
            if entry.get("source") == "hub":
                entry = check_hub(entry, self.views, self.schema, at)
            if entry.get("source") == "view":
                entry = {**entry, "dataset": self._rewritten_dataset(entry, prefix, entries, at)}
            for wrong in set(entry.get("baselines", [])) - set(self.baselines):
                raise UserError(f"{at}.baselines: no '{wrong}'{nearest(wrong, self.baselines)}")
            if "calibration" in entry:
                at_key = f"{at}.calibration"
                other = self._dataset(entry["calibration"], prefix, entries, at_key)
                if other == prefix + name:
                    raise UserError(f"{at_key}: it names itself; leave it out for one half of it")
                entry = {**entry, "calibration": other}
            if "of" in entry:
                of = self._dataset(entry["of"], prefix, entries, f"{at}.of")
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
            for wrong in [view for view in entry["views"] if view not in self.views]:
                raise UserError(f"{at}.views: no view '{wrong}'{nearest(wrong, self.views)}")
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

    def add_views(self, entries: dict[str, dict], where: str) -> None:
        """Check view entries and put them in; `where` names their file in errors."""
        check(entries, "views", self.schema, where)
        modules = {path.stem for path in (self.schema.parents[1] / "scripts/views").glob("*.py")}
        for name, entry in entries.items():
            at = f"{where}: {name}"
            entry = {"module": name, **check(entry, "view", self.schema, at)}
            if self.rewritten(entry) and entry["module"] not in modules:
                wrong = entry["module"]
                raise UserError(f"{at}: no scripts/views/{wrong}.py{nearest(wrong, modules)}")
            self.views[name] = entry

    def rewritten(self, view: dict) -> bool:
        """Whether an entry of a view stands for other texts, not for another way to read them."""
        return "perturb" not in view and "vocabulary_moments" not in view

    def published(self, view: str) -> bool:
        """Whether the texts of a view are those that a dataset's authors made."""
        return self.views[view]["module"] == PUBLISHED

    def _model(self, name: str, prefix: str, at: str) -> str:
        if prefix + name in self.models:
            return prefix + name
        if name not in self.models:
            raise UserError(f"{at}: no model '{name}'{nearest(name, self.models)}")
        return name

    def _dataset(self, name: str, prefix: str, entries: dict[str, dict], at: str) -> str:
        """The registry's name of a dataset that one of `entries` refers to."""
        known = {**self.datasets, **{prefix + other: None for other in entries}}
        found = prefix + name if prefix + name in known else name
        if found not in known:
            raise UserError(f"{at}: no dataset '{found}'{nearest(found, known)}")
        return found

    def _rewritten_dataset(
        self, entry: dict, prefix: str, entries: dict[str, dict], at: str
    ) -> str:
        """The dataset whose rewritten texts an entry with `source: view` stands for."""
        view = self.views.get(entry["view"])
        if view is None or not self.rewritten(view):
            known = [name for name in self.views if self.rewritten(self.views[name])]
            hint = nearest(entry["view"], known)
            raise UserError(f"{at}.view: no view '{entry['view']}' that rewrites texts{hint}")
        name = self._dataset(entry["dataset"], prefix, entries, f"{at}.dataset")
        other = self.datasets.get(name) or entries[name.removeprefix(prefix)]
        if "of" in other or other.get("source") == "view":
            raise UserError(
                f"{at}.dataset: '{name}' is a part or a view of another; name that one, and select "
                "a part from this entry"
            )
        if self.published(entry["view"]) and entry["view"] not in other.get("rewritings", {}):
            raise UserError(f"{at}.view: the authors of '{name}' have not published this view")
        return name

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
    where = str(folder / "config.yaml")
    config = check(content, "config", schema, where)
    config["generation"] = check(config["generation"], "generation", schema, f"{where}: generation")
    registry = Registry(config, read(folder / "lab.yaml")[config["lab_size"]], schema=schema)
    # Baselines, views and families first: datasets and attacks name them.
    for kind in ("baselines", "views", "families", "models", "datasets", "attacks"):
        path = folder / f"{kind}.yaml"
        getattr(registry, f"add_{kind}")(read(path), str(path))
    for kind in ("attacks", "baselines"):
        for name in config[kind]:
            if name not in getattr(registry, kind):
                hint = nearest(name, getattr(registry, kind))
                raise UserError(f"{folder / 'config.yaml'}: {kind}: no '{name}'{hint}")
    return registry
