"""AUC against the parameters of attacks, e.g. Tag&Tab's K, or Gap-K%'s window and ratio.

One row of panels per dataset, one column per entry of ``settings.panels``::

    panels:
      - {attack: tag_tab, x: k}                       # a line per model
      - {attack: gap_k, x: window, lines: ratio}      # a line per ratio, on the last model listed

All values that were computed are shown: the figure is no way to pick one.
"""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.errors import UserError
from scripts.publish.results import Results
from scripts.publish.rows import Row, ordered, parameters
from scripts.publish.style import chance, look, panels, with_intervals
from scripts.publish.titles import Titles

DODGE = 0.02  # of the range of x


def draw(results: Results, settings: Mapping) -> Figure:
    """The figure; ``settings.order`` lists datasets (rows of panels) and models (lines)."""
    titles = Titles(settings.get("titles", {}))
    rows = ordered(results.metrics, settings.get("order", {}))
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    wanted = settings["panels"]
    figure, grid = panels(len(datasets), len(wanted), width=3.6, sharey="row", sharex="col")
    for line, dataset in zip(grid, datasets, strict=True):
        line[0].set_ylabel(f"{titles.dataset(dataset)}\nAUC (95 % interval)")
        for axes, panel in zip(line, wanted, strict=True):
            shown = [
                row for row in rows if (row["dataset"], row["attack"]) == (dataset, panel["attack"])
            ]
            _draw_panel(axes, shown, panel, titles, f"figure {settings['name']}")
    for axes, panel in zip(grid[0], wanted, strict=True):
        axes.set_title(titles.attack(panel["attack"]) + _on(rows, panel, titles))
    for axes, panel in zip(grid[-1], wanted, strict=True):
        axes.set_xlabel(panel.get("xlabel", panel["x"]))
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3, fontsize=7.5, columnspacing=1
        )
    return figure


def _on(rows: Sequence[Row], panel: Mapping, titles: Titles) -> str:
    return f" on {titles.model(rows[-1]['model'])}" if "lines" in panel and rows else ""


def _draw_panel(
    axes: Axes, rows: Sequence[Row], panel: Mapping, titles: Titles, where: str
) -> None:
    if "lines" in panel and rows:
        rows = [row for row in rows if row["model"] == rows[-1]["model"]]
    values = [parameters(row["setting"]) for row in rows]
    for name in filter(None, (panel["x"], panel.get("lines"))):
        if not rows or any(name not in found for found in values):
            raise UserError(f"{where}: {panel['attack']} has no results with a parameter '{name}'")
    lines: dict[str, list[tuple[float, Row]]] = {}
    for row, found in zip(rows, values, strict=True):
        label = (
            f"{panel['lines']} {found[panel['lines']]:g}"
            if "lines" in panel
            else titles.model(row["model"])
        )
        lines.setdefault(label, []).append((found[panel["x"]], row))
    chance(axes)
    ticks = sorted({x for line in lines.values() for x, _ in line})
    width = (ticks[-1] - ticks[0]) or 1
    for index, (label, line) in enumerate(lines.items()):
        shift = DODGE * width * (index - (len(lines) - 1) / 2)
        line.sort(key=lambda pair: pair[0])
        with_intervals(
            axes, [x + shift for x, _ in line], [row for _, row in line], label=label, **look(index)
        )
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
