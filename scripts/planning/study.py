"""A study: blocks of models × datasets × attacks, tables and figures, from one YAML file."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple

from scripts.errors import UserError
from scripts.planning.access import Lacking, left_out
from scripts.planning.config import load, nearest, read
from scripts.planning.deciding import BY_ATTACK, CALLS, add_decisions, own_or, resolve_item
from scripts.planning.registry import Registry


class Cell(NamedTuple):
    """One file of metrics."""

    model: str
    dataset: str
    attack: str


@dataclass(frozen=True)
class Study:
    """A checked study; all names in it are names of the registry."""

    name: str
    path: Path
    entry: dict
    lacking: Lacking = field(default_factory=dict)  # cells of the blocks that cannot be had

    @property
    def title(self) -> str:
        """Heading of the report."""
        return self.entry.get("title", self.name)

    def cells(self, **only: Collection[str]) -> list[Cell]:
        """The study's cells in its own order, once each.

        `only` restricts models, datasets or attacks to the given names.
        """
        return list(dict.fromkeys(cell for cell in self._cells() if _keeps(cell, only)))

    def pairs(self, item: dict) -> list[tuple[str, str]]:
        """Models and datasets that a table or figure shows, in the order of the study.

        A calibration that names both needs no block: its datasets may have no member.
        """
        only = {key: item[key] for key in ("models", "datasets") if key in item}
        if item["kind"] == CALLS and len(only) == 2:
            return list(product(item["models"], item["datasets"]))
        return list(dict.fromkeys((cell.model, cell.dataset) for cell in self.cells(**only)))

    def _cells(self) -> Iterator[Cell]:
        for block in self.entry["blocks"]:
            for model in block["models"]:
                for dataset in block["datasets"]:
                    for attack in block["attacks"]:
                        if (model, attack) not in self.lacking:
                            yield Cell(model, dataset, attack)


def _keeps(cell: Cell, only: dict[str, Collection[str]]) -> bool:
    return all(getattr(cell, key.removesuffix("s")) in names for key, names in only.items())


def load_study(path: Path, registry: Registry, reserved: Collection[str]) -> Study:
    """Read one study file and put the models and datasets it brings along into the registry.

    Raises UserError for a name that is `reserved` (a rule) or that no registry knows.
    """
    name = path.stem
    if name in reserved:
        raise UserError(f"{path}: '{name}' is the name of a rule; rename the file")
    prefix = f"{name}."
    entry = load(path, "study", registry.schema)
    registry.add_models(entry["models"], f"{path}: models", prefix)
    registry.add_datasets(entry["datasets"], f"{path}: datasets", prefix)
    registry.add_attacks(entry["attacks"], f"{path}: attacks", prefix)
    add_decisions(registry, entry, prefix, str(path))
    default = {"attacks": registry.config["attacks"]}
    blocks = [
        _resolve({**default, **block}, registry, prefix, f"{path}: blocks[{number}]")
        for number, block in enumerate(entry["blocks"])
    ]
    _check_references(blocks, registry, path)
    _check_rewritings(blocks, registry, path)
    attacks = {name for block in blocks for name in block["attacks"]}
    shown = {kind: {} for kind in ("tables", "figures")}
    for kind, found in shown.items():
        for key, item in _items(entry, kind, path).items():
            at = f"{path}: {kind}.{key}"
            _check_kind(item, kind, registry, at)
            item = resolve_item(registry, _resolve(item, registry, prefix, at), prefix, at)
            found[key] = _with_settings(item, registry, attacks, prefix, at)
    both = sorted(set(shown["tables"]) & set(shown["figures"]))
    if both or "report" in {**shown["tables"], **shown["figures"]}:
        wrong = both[0] if both else "report"
        raise UserError(f"{path}: '{wrong}' is taken; give each table and figure a name of its own")
    study = Study(name, path, {**entry, **shown, "blocks": blocks}, left_out(registry, blocks))
    if study.lacking and not study.cells():
        raise UserError(
            f"{path}: blocks: no attack can be had on these models: all need more than the "
            "log-probs that an endpoint gives; name others (docs/endpoints.md)"
        )
    return study


def _items(entry: dict, kind: str, path: Path) -> dict[str, dict]:
    """The tables or figures of a study; without blocks none that it does not name."""
    return entry[kind] if entry["blocks"] else read(path).get(kind, {})


def _check_kind(item: dict, kind: str, registry: Registry, at: str) -> None:
    folder = registry.schema.parents[1] / "scripts" / "publish" / kind
    valid = {file.stem for file in folder.glob("[a-z]*.py")}
    if item["kind"] not in valid:
        raise UserError(f"{at}.kind: '{item['kind']}' is not valid{nearest(item['kind'], valid)}")


def _with_settings(
    item: dict, registry: Registry, evaluated: Collection[str], prefix: str, at: str
) -> dict:
    """The table or figure with the registry's names of the settings that it shows, if it says any.

    Calibrations may show any attack, since they make what they need; others what a block evaluates.
    """
    if "settings" not in item:
        return item
    attacks = registry.attacks if item["kind"] == CALLS else evaluated
    # What learned on labels has no known non-members, and no groups that it did not learn from.
    attacks = set(attacks) - (set(registry.ensembles) if item["kind"] in BY_ATTACK else set())
    valid = [setting for name in sorted(attacks) for setting in registry.settings(name)]
    names = [own_or(name, valid, prefix, f"{at}.settings", "setting") for name in item["settings"]]
    return {**item, "settings": names}


def _check_references(blocks: list[dict], registry: Registry, path: Path) -> None:
    """Raise UserError where an attack compares a model with one that its entry does not name."""
    for number, block in enumerate(blocks):
        needed = [attack for name in block["attacks"] for attack in registry.attacks_of(name)]
        for attack in needed:
            for role in registry.attacks[attack]["references"]:
                for model in block["models"]:
                    if role not in registry.models[model]["references"]:
                        raise UserError(
                            f"{path}: blocks[{number}]: {attack} compares a model with its "
                            f"'{role}', and {model} has none; name one under `references` of the "
                            "model's entry, or take the attack out of the block"
                        )


def _check_rewritings(blocks: list[dict], registry: Registry, path: Path) -> None:
    """Raise UserError where an attack reads published rewritings that a dataset does not have."""
    for number, block in enumerate(blocks):
        needed = [attack for name in block["attacks"] for attack in registry.attacks_of(name)]
        for attack in needed:
            for view in registry.attacks[attack]["views"]:
                for dataset in block["datasets"] if registry.published(view) else ():
                    entry = registry.datasets[registry.pool(dataset)]
                    if view not in entry.get("rewritings", {}):
                        raise UserError(
                            f"{path}: blocks[{number}]: {attack} reads the view {view}, which the "
                            f"authors of {dataset} have not published; say where its files are "
                            "under `rewritings` of the dataset's entry, or take the attack out of "
                            "the block"
                        )


def _resolve(names: dict, registry: Registry, prefix: str, at: str) -> dict:
    """The mapping with its lists of models, datasets and attacks as registry names."""
    resolved = dict(names)
    for kind in ("models", "datasets", "attacks"):
        valid = getattr(registry, kind)
        valid = {**valid, **registry.ensembles} if kind == "attacks" else valid
        own = [name.removeprefix(prefix) for name in valid if name.startswith(prefix)]
        for index, name in enumerate(names.get(kind, [])):
            if name not in valid and prefix + name not in valid:
                hint = nearest(name, [*own, *valid])
                raise UserError(f"{at}.{kind}[{index}]: no {kind[:-1]} '{name}'{hint}")
        if kind in names:
            resolved[kind] = [
                prefix + name if prefix + name in valid else name for name in names[kind]
            ]
    return resolved
