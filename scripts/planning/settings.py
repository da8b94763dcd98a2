"""Settings of an attack: its parameter grid in config/attacks.yaml, spelled out by name."""

from collections.abc import Mapping, Sequence
from itertools import product


def expand(
    attack: str, settings: Mapping[str, object] | Sequence[Mapping[str, object]] | None
) -> dict[str, dict[str, object]]:
    """Names of an attack's settings, e.g. ``min_k(ratio=0.2)``, with their parameters.

    `settings` is a grid (parameter to a value or a list of values), whose product is taken in the
    order written, the last parameter fastest; or a list of grids, one after the other; or nothing,
    for an attack without parameters, whose one setting is called like the attack. ValueError where
    a grid is empty or a setting comes twice.
    """
    grids = [settings or {}] if settings is None or isinstance(settings, Mapping) else settings
    expanded: dict[str, dict[str, object]] = {}
    for grid in grids:
        for values in product(*(v if isinstance(v, list) else [v] for v in grid.values())):
            parameters = dict(zip(grid, values, strict=True))
            name = _name(attack, parameters)
            if name in expanded:
                raise ValueError(f"{name} comes twice")
            expanded[name] = parameters
    if not expanded:
        raise ValueError(f"no setting of {attack}: a list of values or settings is empty")
    return expanded


def _name(attack: str, parameters: Mapping[str, object]) -> str:
    if not parameters:
        return attack
    return f"{attack}({','.join(f'{key}={value}' for key, value in parameters.items())})"
