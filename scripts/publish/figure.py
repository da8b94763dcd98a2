"""Draw one figure of a study as SVG, PDF and PNG."""

import textwrap
from collections.abc import Mapping

from matplotlib.figure import Figure

from scripts.cli import arguments, run
from scripts.publish.kinds import load_kind
from scripts.publish.results import Results
from scripts.publish.rows import read_gates, read_metrics
from scripts.publish.style import save, use_style
from scripts.publish.titles import Titles, listed

CHARACTERS = 14  # of a note, per inch of the figure


def main() -> None:
    """Read the results, draw the figure of ``settings.kind``, write three files."""
    args = arguments(
        __doc__, ["svg", "pdf", "png"], ["metrics", "gates", "scores", "texts", "found"]
    )
    settings = args.settings
    kind = load_kind("figures", settings["kind"], f"figure {settings['name']}")
    use_style()
    results = Results(
        read_metrics(args.metrics), read_gates(args.gates), args.scores, args.texts, args.found
    )
    figure = kind.draw(results, settings)
    note_ungated(figure, results, settings)
    for path in (args.svg, args.pdf, args.png):
        save(figure, path)


def note_ungated(figure: Figure, results: Results, settings: Mapping) -> None:
    """Say above the figure on which of its datasets nothing tells a shift from membership."""
    titles = Titles(settings.get("titles", {}))
    gated = {row["dataset"] for row in results.gates}
    ungated = [name for name in settings.get("order", {}).get("datasets", []) if name not in gated]
    if ungated:
        note = f"No blind baseline judged {listed([titles.dataset(name) for name in ungated])}."
        width = int(CHARACTERS * figure.get_figwidth())
        figure.suptitle(textwrap.fill(note, width), fontsize=7.5, color="#505050")


if __name__ == "__main__":
    run(main)
