"""ROC curves on log axes, one panel per model and dataset, one curve per setting.

Bars are the bootstrap intervals of the TPR at the stated FPRs. Where fewer than 10 non-members
are false positives, a curve is mostly chance: grey.
"""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from scripts.contracts.metrics import FPRS
from scripts.evaluation.inputs import read_sample, read_scores
from scripts.evaluation.roc import roc_curve, tpr_display
from scripts.publish.results import Results
from scripts.publish.rows import Row, first_of, ordered, with_settings
from scripts.publish.style import legend_below, look, panels
from scripts.publish.titles import Titles

FEW = 10  # false positives


def draw(results: Results, settings: Mapping) -> Figure:
    """The figure; ``settings.pools`` maps a dataset to the one that its scores were made for.

    Without ``settings.settings``, the first setting of each attack is shown.
    """
    titles = Titles(settings.get("titles", {}))
    rows = ordered(results.metrics, settings.get("order", {}))
    wanted = settings.get("settings")
    if wanted is None:
        wanted = [row["setting"] for row in first_of(rows, "attack").values()]
    rows = with_settings(rows, wanted, f"figure {settings['name']}")
    models = list(dict.fromkeys(row["model"] for row in rows))
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, grid = panels(
        len(models), len(datasets), width=3.0, height=3.0, sharex=True, sharey=True
    )
    for line, model in zip(grid, models, strict=True):
        for axes, dataset in zip(line, datasets, strict=True):
            shown = [row for row in rows if (row["model"], row["dataset"]) == (model, dataset)]
            _draw_panel(axes, results, shown, settings, titles)
            axes.set_title(f"{titles.dataset(dataset)}\n{titles.model(model)}")
    figure.get_layout_engine().set(wspace=0.06)
    for line in grid:
        line[0].set_ylabel("true positive rate")
    for axes in grid[-1]:
        axes.set_xlabel("false positive rate")
    legend_below(figure, 3)
    return figure


def _draw_panel(
    axes: Axes, results: Results, rows: Sequence[Row], settings: Mapping, titles: Titles
) -> None:
    if not rows:
        axes.set_axis_off()
        return
    model, dataset = rows[0]["model"], rows[0]["dataset"]
    places = {dataset, settings.get("pools", {}).get(dataset, dataset)}
    ids, sample = read_sample(results.texts_of(dataset), dataset)
    least = 1 / sample.nonmembers
    axes.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(1 / sample.members, 1.05))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{100 * rate:g} %"))
    axes.axvspan(least, min(1.0, FEW * least), color="#ececec", zorder=0)
    axes.plot([least, 1], [least, 1], color="#404040", linewidth=0.8, linestyle=(0, (1, 2)))
    for index, row in enumerate(rows):
        path = results.scores_of(model, places, row["attack"])
        scores = read_scores(path, ids, [row["setting"]])[0]
        fpr, tpr, _ = roc_curve(scores, sample.labels)
        style = look(index)
        axes.plot(
            fpr,
            tpr,
            drawstyle="steps-post",
            label=titles.setting(row),
            color=style["color"],
            linestyle=style["linestyle"],
        )
        for limit in FPRS:
            at = f"tpr_at_{limit:g}"
            if tpr_display(row["nonmembers"], limit) == "blank" or row[at] is None:
                continue
            axes.errorbar(
                [limit * 1.06 ** (index - (len(rows) - 1) / 2)],
                [row[at]],
                # A percentile interval need not hold the estimate.
                yerr=[
                    [max(0, row[at] - row[f"{at}_low"])],
                    [max(0, row[f"{at}_high"] - row[at])],
                ],
                fmt=style["marker"],
                markersize=3,
                color=style["color"],
                elinewidth=0.9,
                capsize=1.5,
            )
