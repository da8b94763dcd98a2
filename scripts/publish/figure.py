"""Draw one figure of a study as SVG, PDF and PNG."""

from scripts.cli import arguments, run
from scripts.publish.kinds import load_kind
from scripts.publish.results import Results
from scripts.publish.rows import read_gates, read_metrics
from scripts.publish.style import save, use_style


def main() -> None:
    """Read the results, draw the figure of ``settings.kind``, write three files."""
    args = arguments(__doc__, ["svg", "pdf", "png"], ["metrics", "gates", "scores", "texts"])
    settings = args.settings
    kind = load_kind("figures", settings["kind"], f"figure {settings['name']}")
    use_style()
    results = Results(read_metrics(args.metrics), read_gates(args.gates), args.scores, args.texts)
    figure = kind.draw(results, settings)
    for path in (args.svg, args.pdf, args.png):
        save(figure, path)


if __name__ == "__main__":
    run(main)
