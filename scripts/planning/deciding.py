"""What a study brings along beyond attacks: ensembles, transfers, inferences and comparisons.

Each is an entry of the study's YAML, put into the registry as `{study}.{name}` with the attacks
behind its settings. Tables and figures of the kinds in `SHOWN` name one of them with `of`.
"""

from collections.abc import Collection, Iterable, Sequence

from scripts.errors import UserError
from scripts.planning.access import lacking
from scripts.planning.config import check, nearest
from scripts.planning.registry import Registry

KINDS = ("ensembles", "transfers", "inferences", "comparisons")
CALLS = "calibration"  # the kind of table whose datasets need no member
BY_ATTACK = {CALLS: "calibration", "groups": "groups"}  # kinds with a file per attack, its folder
SHOWN = {"transfer": "transfers", "inference": "inferences", "comparison": "comparisons"}


def add_decisions(registry: Registry, study: dict, prefix: str, where: str) -> None:
    """Check a study's entries of all `KINDS` and put them in; `where` names its file in errors."""
    found = {
        setting: attack for attack in registry.attacks for setting in registry.settings(attack)
    }
    for kind in KINDS:
        for name, entry in study[kind].items():
            at = f"{where}: {kind}.{name}"
            entry = check(entry, kind[:-1], registry.schema, at)
            if "settings" in entry:
                entry["settings"] = [
                    own_or(setting, found, prefix, f"{at}.settings", "setting")
                    for setting in entry["settings"]
                ]
                attacks = dict.fromkeys(found[setting] for setting in entry["settings"])
                entry["attacks"] = list(attacks)
            if kind == "ensembles":
                if prefix + name in registry.attacks:
                    raise UserError(f"{at}: the study has an attack of this name; rename one")
                entry = {"title": name, **entry}
            elif kind == "transfers":
                entry = _transfer(registry, entry, prefix, at)
            elif kind == "comparisons":
                entry = _comparison(registry, entry, prefix, at)
            getattr(registry, kind)[prefix + name] = entry


def _transfer(registry: Registry, entry: dict, prefix: str, at: str) -> dict:
    ensemble = own_or(
        entry["ensemble"], registry.ensembles, prefix, f"{at}.ensemble", "ensemble of the study"
    )
    datasets = [
        own_or(name, registry.datasets, prefix, f"{at}.datasets", "dataset")
        for name in entry["datasets"]
    ]
    return {**registry.ensembles[ensemble], **entry, "datasets": datasets}


def _comparison(registry: Registry, entry: dict, prefix: str, at: str) -> dict:
    reference = entry.get("reference")
    if reference is not None:
        reference = own_or(
            reference, entry["settings"], prefix, f"{at}.reference", "setting of its own"
        )
    return {**entry, "reference": reference}


def own_or(name: str, valid: Collection[str], prefix: str, at: str, what: str) -> str:
    """`name` as the registry has it: the study's own, else the general one; UserError if none."""
    if prefix + name in valid:
        return prefix + name
    if name not in valid:
        own = [other.removeprefix(prefix) for other in valid if other.startswith(prefix)]
        raise UserError(f"{at}: no {what} '{name}'{nearest(name, [*own, *valid])}")
    return name


def files_shown(
    registry: Registry, item: dict, pairs: Sequence[tuple[str, str]], attacks: Iterable[str]
) -> list[str]:
    """What stands behind a table or figure beyond metrics: paths in results/, without ending.

    `pairs` are the models and datasets that it shows, `attacks` what it would show by default.
    """
    kind = item["kind"]
    attacks = attacks_shown(registry, item, attacks)
    if kind in SHOWN:
        pairs = [
            pair for pair in pairs if not any(lacking(registry, pair[0], name) for name in attacks)
        ]
    if kind == "transfer":
        return [f"transfers/{model}/{item['of']}" for model in dict.fromkeys(m for m, _ in pairs)]
    if kind in SHOWN:
        return [f"{SHOWN[kind]}/{model}/{dataset}/{item['of']}" for model, dataset in pairs]
    if kind not in BY_ATTACK:
        return []
    ends = [pair[end] for pair in item.get("mismatches", []) for end in ("from", "to")]
    places = [*pairs, *((end["model"], end["dataset"]) for end in ends)]
    return [
        f"{BY_ATTACK[kind]}/{model}/{dataset}/{attack}"
        for model, dataset in dict.fromkeys(places)
        for attack in attacks
        if attack not in registry.ensembles and not lacking(registry, model, attack)
    ]


def attacks_shown(registry: Registry, item: dict, attacks: Iterable[str]) -> list[str]:
    """The attacks behind a table or figure; `attacks` are those that it shows by default."""
    if item["kind"] in SHOWN:
        return getattr(registry, SHOWN[item["kind"]])[item["of"]]["attacks"]
    if item["kind"] in BY_ATTACK and "settings" in item:
        wanted = set(item["settings"])
        return [name for name in registry.attacks if wanted & registry.settings(name).keys()]
    return list(attacks)


def resolve_item(registry: Registry, item: dict, prefix: str, at: str) -> dict:
    """A table or figure whose `of` and `mismatches` are names of the registry.

    Raises UserError where its kind needs an `of` and it has none, or one that the study lacks.
    """
    resolved = dict(item)
    if item["kind"] in SHOWN:
        kind = SHOWN[item["kind"]]
        if "of" not in item:
            raise UserError(f"{at}: the key 'of' is missing; name one of the study's `{kind}`")
        valid = {name for name in getattr(registry, kind) if name.startswith(prefix)}
        resolved["of"] = own_or(item["of"], valid, prefix, f"{at}.of", f"{kind[:-1]} of the study")
    elif "of" in item:
        raise UserError(f"{at}.of: only the kinds {', '.join(SHOWN)} have it; take it out")
    if "mismatches" in item:
        resolved["mismatches"] = [
            {
                end: {
                    "model": own_or(pair[end]["model"], registry.models, prefix, at, "model"),
                    "dataset": own_or(
                        pair[end]["dataset"], registry.datasets, prefix, at, "dataset"
                    ),
                }
                for end in ("from", "to")
            }
            for pair in item["mismatches"]
        ]
    return resolved
