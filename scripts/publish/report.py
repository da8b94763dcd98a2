"""Write a study's report: one HTML page that loads nothing, to be read from top to bottom."""

import json
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.contracts.table import release
from scripts.publish.findings import headlines, overview
from scripts.publish.formats import to_html
from scripts.publish.origins import origins
from scripts.publish.parts import not_available
from scripts.publish.resources import stages
from scripts.publish.rows import ordered, read_gates, read_metrics
from scripts.publish.titles import Titles, share

TEMPLATES = Path(__file__).resolve().parents[2] / "report"
PACKAGES = ("snakemake", "torch", "transformers", "tokenizers", "numpy", "scipy", "scikit-learn")

# What stands around and in an SVG file that a page of HTML has no use for.
_SURPLUS = re.compile(
    r"^.*?(?=<svg)|<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->|\s+xmlns(:\w+)?=\"[^\"]*\"",
    re.DOTALL,
)
_ID = re.compile(r'(\bid="|href="#|url\(#)')


def main() -> None:
    """Read what the study published and the results behind it, render the template."""
    args = arguments(
        __doc__,
        ["benchmarks", "report"],
        ["tables", "figures", "sanity", "metrics", "gates", "calibrations", "trainings"],
    )
    settings = args.settings
    titles = Titles(settings.get("titles", {}))
    order = settings.get("order", {})
    metrics = ordered(read_metrics(args.metrics), order)
    gates = ordered(read_gates(args.gates), order)
    models, datasets = origins([*args.metrics, *args.calibrations], args.trainings)
    page = render(
        settings,
        tables={path.stem: path.read_text(encoding="utf-8") for path in args.tables},
        figures={path.stem: path.read_text(encoding="utf-8") for path in args.figures},
        checks=[check for path in args.sanity for check in json.loads(path.read_bytes())],
        headlines=[
            *headlines(metrics, gates, titles),
            *not_available(settings.get("lacking", [])),
        ],
        overview=to_html(overview(metrics, gates, titles, settings.get("notes", {}))),
        models=models,
        datasets=datasets,
        stages=stages(args.benchmarks, settings.get("jobs", [])),
        versions=versions(),
    )
    with replacing(args.report) as temporary:
        temporary.write_text(page, encoding="utf-8")


def render(
    settings: Mapping, *, tables: Mapping[str, str], figures: Mapping[str, str], **parts: object
) -> str:
    """The page. `tables` and `figures` map names to HTML and SVG, in the order they are shown;
    `parts` are what else report.html.j2 names, e.g. checks and headlines."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(value=shown, bound=bound)
    captions = settings.get("captions", {})
    return environment.get_template("report.html.j2").render(
        study=settings["study"],
        title=settings["title"],
        question=settings.get("question", ""),
        provenance={"release": release(), **settings.get("provenance", {})},
        tables=[{"html": html, **_caption(captions, name)} for name, html in tables.items()],
        figures=[
            {"id": f"figure{n}", "svg": inline_svg(svg, f"figure{n}"), **_caption(captions, name)}
            for n, (name, svg) in enumerate(figures.items(), 1)
        ],
        **parts,
    )


def _caption(captions: Mapping, name: str) -> dict[str, str]:
    return {"title": name, "text": ""} | captions.get(name, {})


def inline_svg(svg: str, prefix: str) -> str:
    """An SVG file as an element of an HTML page with others: its ids start with `prefix`.

    Its style sheet, which would hold for the whole page, goes; report.html.j2 has it instead.
    """
    svg = _SURPLUS.sub("", svg).replace("xlink:href", "href").strip()
    svg = _ID.sub(lambda match: f"{match[1]}{prefix}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-labelledby="{prefix}-title"', 1)


def shown(value: object) -> str:
    """A value of a check or of the provenance as text."""
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 0.001 else share(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(shown, value))
    return "–" if value is None else str(value)


def bound(value: object) -> str:
    """The bound of a check as text; a pair is a range."""
    return "{} to {}".format(*map(shown, value)) if isinstance(value, list) else str(value)


def versions() -> dict[str, str]:
    """Versions of Python, the machine and the packages that decide numbers."""
    found = {
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    run(main)
