"""One look for all figures: readable, safe for the colour-blind, the same bytes on each run."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from scripts.atomic import replacing
from scripts.publish.rows import Row

# Okabe and Ito's palette without its yellow, which is too light for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
BLIND = "#707070"

_RC = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "pretrace",  # or ids in the file would be drawn anew each time
}
# Neither the time nor the version of matplotlib belongs into a result.
_METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def use_style() -> None:
    """Set the look for all figures of this process."""
    matplotlib.rcParams.update(_RC)


def save(figure: Figure, path: Path) -> None:
    """Write the figure in the format of the path's ending, whole or not at all."""
    kind = path.suffix.removeprefix(".")
    with replacing(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=200, metadata=_METADATA[kind])


def panels(
    rows: int, columns: int, *, width: float = 2.9, height: float = 2.9, **options: object
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with a grid of panels, each `width` × `height` inches; options as of subplots."""
    figure = Figure(
        figsize=(max(4.2, width * columns + 0.5), height * rows + 0.6), layout="constrained"
    )
    return figure, figure.subplots(rows, columns, squeeze=False, **options).tolist()


def colour(index: int) -> str:
    """The colour of series `index`."""
    return COLOURS[index % len(COLOURS)]


def look(index: int) -> dict[str, str]:
    """Colour, marker and dashes of series `index`: each alone tells series apart."""
    return {
        "color": colour(index),
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def with_intervals(
    axes: Axes,
    places: Sequence[float],
    rows: Sequence[Row],
    *,
    horizontal: bool = False,
    **options: object,
) -> None:
    """Draw the AUCs of METRICS or GATE rows at `places` with their 95 % intervals."""
    values = [row["auc"] for row in rows]
    errors = [
        [row["auc"] - row["auc_low"] for row in rows],
        [row["auc_high"] - row["auc"] for row in rows],
    ]
    data = {"x": values, "y": places, "xerr": errors} if horizontal else {}
    data = data or {"x": places, "y": values, "yerr": errors}
    axes.errorbar(**data, elinewidth=0.9, capsize=2, **options)


def chance(axes: Axes, *, horizontal: bool = False) -> None:
    """Mark AUC = 0.5."""
    draw = axes.axvline if horizontal else axes.axhline
    draw(0.5, color="#404040", linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def wrapped(title: str) -> str:
    """A title of a narrow panel, in lines."""
    parts = title.replace(" (", "\n(").split("\n")
    return "\n".join(textwrap.fill(part, 26) for part in parts)


def powers_of_two(axes: Axes, values: Sequence[float]) -> None:
    """A log axis for x with ticks at `values` alone."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.xaxis.set_minor_formatter(NullFormatter())


def legend_below(figure: Figure, columns: int) -> None:
    """One legend for all panels, below them; series of one name share one entry."""
    series: dict[str, object] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            series.setdefault(label, handle)
    figure.legend(
        series.values(), series, loc="outside lower center", ncols=min(columns, len(series))
    )
