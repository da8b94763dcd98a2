"""Write one table of a study as CSV (tidy, full precision), LaTeX, Markdown and HTML."""

from dataclasses import replace

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.publish import formats
from scripts.publish.kinds import load_kind
from scripts.publish.parts import not_available
from scripts.publish.rows import read_gates


def main() -> None:
    """Read the results, build the table of ``settings.kind``, write four files."""
    args = arguments(__doc__, ["csv", "tex", "md", "html"], ["metrics", "gates", "found"])
    settings = args.settings
    kind = load_kind("tables", settings["kind"], f"table {settings['name']}")
    rows = kind.read(args.metrics, args.found)
    sheet = kind.build(rows, read_gates(args.gates), settings)
    sheet = replace(sheet, notes=[*sheet.notes, *not_available(settings.get("lacking", []))])
    for path, write in (
        (args.csv, formats.to_csv),
        (args.tex, formats.to_tex),
        (args.md, formats.to_markdown),
        (args.html, formats.to_html),
    ):
        with replacing(path) as temporary:
            temporary.write_text(write(sheet), encoding="utf-8")


if __name__ == "__main__":
    run(main)
