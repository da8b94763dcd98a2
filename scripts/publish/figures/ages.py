"""AUC against the age of members: the same texts, scored at several checkpoints.

A dataset's members were last seen at the steps in its texts; its age at a checkpoint is the
checkpoint's step minus the mean of those. Below zero, the members are still to come: the AUC has
to be that of non-members there. One panel per setting, one line per checkpoint. (A learning rate
that is still high makes what was seen last look new; the end of a schedule evens that out.)
"""

import re
from collections.abc import Mapping

import pyarrow.compute as pc
from matplotlib.figure import Figure

from scripts.errors import UserError
from scripts.publish.results import Results
from scripts.publish.rows import ordered, with_settings
from scripts.publish.style import chance, legend_below, look, panels, with_intervals
from scripts.publish.titles import Titles

DODGE = 12.0  # steps, so that intervals at one age don't hide each other
_STEP = re.compile(r"-step(\d+)$")


def draw(results: Results, settings: Mapping) -> Figure:
    """The figure; ``settings.order`` lists the checkpoints (models) and the parts by age."""
    where = f"figure {settings['name']}"
    titles = Titles(settings.get("titles", {}))
    rows = ordered(results.metrics, settings.get("order", {}))
    rows = with_settings(rows, settings.get("settings"), where)
    last_seen = {
        dataset: pc.mean(results.of_members(dataset, "step")).as_py()
        for dataset in dict.fromkeys(row["dataset"] for row in rows)
    }
    shown = list(dict.fromkeys(row["setting"] for row in rows))
    steps = {model: _step(model, where) for model in dict.fromkeys(row["model"] for row in rows)}
    figure, grid = panels(1, len(shown), width=3.4, sharey=True, sharex=True)
    for axes, setting in zip(grid[0], shown, strict=True):
        chance(axes)
        for index, (model, step) in enumerate(steps.items()):
            chosen = [row for row in rows if (row["setting"], row["model"]) == (setting, model)]
            shift = DODGE * (index - (len(steps) - 1) / 2)
            points = [(step - last_seen[row["dataset"]], row) for row in chosen]
            points.sort(key=lambda point: point[0])
            seen = [(age + shift, row) for age, row in points if age > 0]
            unseen = [(age + shift, row) for age, row in points if age <= 0]
            if seen:
                with_intervals(
                    axes, *zip(*seen, strict=True), label=titles.model(model), **look(index)
                )
            if unseen:
                hollow = look(index) | {"linestyle": "none", "markerfacecolor": "white"}
                with_intervals(axes, *zip(*unseen, strict=True), **hollow)
        low = min(0.0, axes.get_xlim()[0])
        axes.set_xlim(left=low)
        if low < 0:
            axes.axvspan(low, 0, color="#f1f1f1", zorder=0)
            axes.annotate(
                "still to be seen",
                (0.02, 0.98),
                xycoords="axes fraction",
                va="top",
                color="#505050",
                fontsize=8,
            )
        axes.set_title(titles.setting(next(row for row in rows if row["setting"] == setting)))
        axes.set_xlabel("training steps since members were seen")
    grid[0][0].set_ylabel("AUC (95 % interval)")
    legend_below(figure, 4)
    return figure


def _step(model: str, where: str) -> int:
    found = _STEP.search(model)
    if not found:
        raise UserError(f"{where}: {model} names no checkpoint; list models called …-step<N>")
    return int(found[1])
