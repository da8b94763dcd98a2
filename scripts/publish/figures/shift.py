"""Attacks and blind baselines side by side, on clean, shifted and null datasets.

One panel per dataset; each line a setting (one mark per model) or a blind baseline.
"""

from collections.abc import Mapping

from matplotlib.figure import Figure

from scripts.publish.results import Results
from scripts.publish.rows import first_of, ordered, with_settings
from scripts.publish.style import BLIND, chance, legend_below, look, panels, with_intervals, wrapped
from scripts.publish.titles import Titles

DODGE = 0.18


def draw(results: Results, settings: Mapping) -> Figure:
    """The figure; ``settings.order.datasets`` are the panels, ``settings.settings`` the attacks."""
    titles = Titles(settings.get("titles", {}))
    order = settings.get("order", {})
    rows = ordered(results.metrics, order)
    rows = with_settings(rows, settings.get("settings"), f"figure {settings['name']}")
    gates = [row for row in ordered(results.gates, order) if row["chosen"]]
    models = list(dict.fromkeys(row["model"] for row in rows))
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    attacks = {name: titles.setting(row) for name, row in first_of(rows, "setting").items()}
    baselines = {name: titles.baseline(name) for name in first_of(gates, "baseline")}
    names = [*attacks.values(), *baselines.values()]
    figure, grid = panels(
        1, len(datasets), width=2.6, height=0.6 + 0.24 * len(names), sharex=True, sharey=True
    )
    for axes, dataset in zip(grid[0], datasets, strict=True):
        chance(axes, horizontal=True)
        for index, model in enumerate(models):
            line = [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)]
            shift = DODGE * (index - (len(models) - 1) / 2)
            places = [list(attacks).index(row["setting"]) + shift for row in line]
            style = look(index) | {"linestyle": "none"}
            with_intervals(
                axes,
                places,
                line,
                horizontal=True,
                label=f"attacks, {titles.model(model)}",
                **style,
            )
        line = [row for row in gates if row["dataset"] == dataset]
        places = [len(attacks) + list(baselines).index(row["baseline"]) for row in line]
        with_intervals(
            axes,
            places,
            line,
            horizontal=True,
            label="blind baselines (no model)",
            fmt="x",
            color=BLIND,
        )
        axes.axhspan(len(attacks) - 0.5, len(names) - 0.5, color="#f4f4f4", zorder=0)
        axes.set_title(wrapped(titles.dataset(dataset)))
        axes.set_xlabel("AUC (95 % interval)")
    grid[0][0].set_yticks(range(len(names)), names)
    grid[0][0].set_ylim(len(names) - 0.5, -0.5)
    legend_below(figure, 3)
    return figure
