"""AUC against the number of times that a member was seen, by model: dose and response.

One panel per setting, one line per model. The exposures stand in the datasets' texts; the best
blind baseline of each dataset shows what can be had without a model.
"""

from collections.abc import Mapping

from matplotlib.figure import Figure

from scripts.errors import UserError
from scripts.publish.results import Results
from scripts.publish.rows import ordered, with_settings
from scripts.publish.style import (
    BLIND,
    chance,
    legend_below,
    look,
    panels,
    powers_of_two,
    with_intervals,
)
from scripts.publish.titles import Titles

DODGE = 0.09  # of an octave, so that intervals of one dataset don't hide each other


def draw(results: Results, settings: Mapping) -> Figure:
    """The figure; ``settings.order.datasets`` are the strata, ``settings.settings`` the panels."""
    where = f"figure {settings['name']}"
    titles = Titles(settings.get("titles", {}))
    rows = ordered(results.metrics, settings.get("order", {}))
    rows = with_settings(rows, settings.get("settings"), where)
    exposures = {
        dataset: _exposures(results, dataset, where)
        for dataset in dict.fromkeys(row["dataset"] for row in rows)
    }
    shown = list(dict.fromkeys(row["setting"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    blind = [row for row in results.gates if row["best"] and row["dataset"] in exposures]
    figure, grid = panels(1, len(shown), width=2.3, sharey=True)
    for axes, setting in zip(grid[0], shown, strict=True):
        chance(axes)
        for index, model in enumerate(models):
            line = [row for row in rows if (row["setting"], row["model"]) == (setting, model)]
            line.sort(key=lambda row: exposures[row["dataset"]])
            shift = 2 ** (DODGE * (index - len(models) / 2))
            places = [exposures[row["dataset"]] * shift for row in line]
            with_intervals(axes, places, line, label=titles.model(model), **look(index))
        if blind:
            blind.sort(key=lambda row: exposures[row["dataset"]])
            shift = 2 ** (DODGE * len(models) / 2)
            places = [exposures[row["dataset"]] * shift for row in blind]
            with_intervals(
                axes, places, blind, label="best blind baseline (no model)", fmt="x", color=BLIND
            )
        axes.set_title(titles.setting(next(row for row in rows if row["setting"] == setting)))
        powers_of_two(axes, sorted(set(exposures.values())))
        axes.set_xlabel("times seen in training")
    grid[0][0].set_ylabel("AUC (95 % interval)")
    legend_below(figure, 4)
    return figure


def _exposures(results: Results, dataset: str, where: str) -> int:
    values = set(results.of_members(dataset, "exposures").to_pylist())
    if len(values) != 1 or min(values) < 1:
        raise UserError(
            f"{where}: members of {dataset} were seen {sorted(values)} times; "
            "list datasets whose members were seen equally often"
        )
    return values.pop()
