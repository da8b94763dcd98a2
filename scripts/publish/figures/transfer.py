"""A heat map of an ensemble's AUC: learned on the domain of the row, judged on the column's.

Tag&Tab's Figure 4, with intervals; one panel per model. 0.5 is white. † out of fold.
"""

from collections.abc import Mapping

from matplotlib.figure import Figure

from scripts.publish.results import Results
from scripts.publish.rows import first_of
from scripts.publish.style import panels, wrapped
from scripts.publish.tables.transfer import FOLDS, read
from scripts.publish.titles import Titles, interval, share


def draw(results: Results, settings: Mapping) -> Figure:
    """The figure of the files in ``results.found``."""
    titles = Titles(settings.get("titles", {}))
    rows = read([], results.found)
    names = list(first_of(rows, "judged_on"))
    labels = [wrapped(titles.dataset(name)) for name in names]
    models = first_of(rows, "model")
    side = 1.2 + 1.0 * len(names)
    figure, grid = panels(1, len(models), width=side + 0.8, height=side)
    for axes, model in zip(grid[0], models, strict=True):
        found = {(r["learned_on"], r["judged_on"]): r for r in rows if r["model"] == model}
        values = [[found[one, other]["auc"] for other in names] for one in names]
        image = axes.imshow(values, cmap="PuOr", vmin=0, vmax=1)
        for line, one in enumerate(names):
            for column, other in enumerate(names):
                row = found[one, other]
                mark = f" {FOLDS}" if row["out_of_fold"] else ""
                text = f"{share(row['auc'])}{mark}\n{interval(row['auc_low'], row['auc_high'])}"
                dark = abs(row["auc"] - 0.5) > 0.35
                colour = "white" if dark else "black"
                axes.text(column, line, text, ha="center", va="center", fontsize=7, color=colour)
        axes.set_xticks(range(len(names)), labels, rotation=30, ha="right", fontsize=7.5)
        axes.set_yticks(range(len(names)), labels, fontsize=7.5)
        axes.set(title=titles.model(model), xlabel="judged on", ylabel="learned on")
        axes.grid(False)
    figure.colorbar(image, ax=figure.axes, label="AUC", shrink=0.8)
    return figure
