"""A study: blocks of models × datasets × attacks, tables and figures, from one YAML file."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scripts.errors import UserError
from scripts.planning.config import load, nearest
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

    @property
    def title(self) -> str:
        """Heading of the report."""
        return self.entry.get("title", self.name)

    def cells(self, **only: Collection[str]) -> list[Cell]:
        """The study's cells in its own order, once each.

        `only` restricts models, datasets or attacks to the given names.
        """
        return list(dict.fromkeys(cell for cell in self._cells() if _keeps(cell, only)))

    def _cells(self) -> Iterator[Cell]:
        for block in self.entry["blocks"]:
            for model in block["models"]:
                for dataset in block["datasets"]:
                    for attack in block["attacks"]:
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
    entry = load(path, "study", registry.schema)
    registry.add_models(entry["models"], f"{path}: models", f"{name}.")
    registry.add_datasets(entry["datasets"], f"{path}: datasets", f"{name}.")
    registry.add_attacks(entry["attacks"], f"{path}: attacks", f"{name}.")
    default = {"attacks": registry.config["attacks"]}
    blocks = [
        _resolve({**default, **block}, registry, f"{name}.", f"{path}: blocks[{number}]")
        for number, block in enumerate(entry["blocks"])
    ]
    shown = {
        kind: {
            key: _resolve(item, registry, f"{name}.", f"{path}: {kind}.{key}")
            for key, item in entry[kind].items()
        }
        for kind in ("tables", "figures")
    }
    for kind, found in shown.items():
        folder = registry.schema.parents[1] / "scripts" / "publish" / kind
        valid = {file.stem for file in folder.glob("[a-z]*.py")}
        for key, item in found.items():
            if item["kind"] not in valid:
                wrong = f"{path}: {kind}.{key}.kind: '{item['kind']}' is not valid"
                raise UserError(wrong + nearest(item["kind"], valid))
    attacks = {name for block in blocks for name in block["attacks"]}
    settings = {setting for name in attacks for setting in registry.settings(name)}
    for kind, found in shown.items():
        for key, item in found.items():
            for wrong in [name for name in item.get("settings", []) if name not in settings]:
                at = f"{path}: {kind}.{key}.settings"
                raise UserError(f"{at}: no setting '{wrong}'{nearest(wrong, settings)}")
    both = sorted(set(shown["tables"]) & set(shown["figures"]))
    if both or "report" in {**shown["tables"], **shown["figures"]}:
        wrong = both[0] if both else "report"
        raise UserError(f"{path}: '{wrong}' is taken; give each table and figure a name of its own")
    return Study(name, path, {**entry, **shown, "blocks": blocks})


def _resolve(names: dict, registry: Registry, prefix: str, at: str) -> dict:
    """The mapping with its lists of models, datasets and attacks as registry names."""
    resolved = dict(names)
    for kind in ("models", "datasets", "attacks"):
        valid = getattr(registry, kind)
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
