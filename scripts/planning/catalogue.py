"""Make docs/attacks.md from config/attacks.yaml and the attacks' docstrings.

``python -m scripts.planning.catalogue``
"""

import ast
from pathlib import Path

import yaml

from scripts.planning.settings import expand

ROOT = Path(__file__).resolve().parents[2]


def catalogue(attacks: dict[str, dict], folder: Path) -> str:
    """The Markdown page: a table of all entries, then what each file of `folder` says it does."""
    lines = [
        "# The attacks",
        "",
        "Made from config/attacks.yaml and the docstrings of scripts/attacks/ by",
        "`python -m scripts.planning.catalogue`; edit it there. Higher means member in all of",
        "them. How to add one: [adding an attack](adding-an-attack.md). Where a paper and its code",
        "differ: [readings](readings.md).",
        "",
        "| name | title | needs of a model | beside token statistics | settings |",
        "| --- | --- | --- | --- | --- |",
    ]
    modules: dict[str, list[str]] = {}
    for name, entry in attacks.items():
        modules.setdefault(entry.get("module", name), []).append(name)
        beside = [
            *(["text"] if "text" in entry["columns"] else []),
            *entry.get("needs", []),
            *(f"view {view}" for view in entry.get("views", [])),
            *(f"model {role}" for role in entry.get("references", [])),
        ]
        settings = len(expand(name, entry.get("settings")))
        cells = [f"`{name}`", entry["title"], entry["access"], ", ".join(beside), str(settings)]
        lines.append(f"| {' | '.join(cells)} |")
    for module, names in modules.items():
        lines += ["", f"## {attacks[names[0]]['title']}", "", f"`scripts/attacks/{module}.py`", ""]
        lines += [_docstring(folder / f"{module}.py"), ""]
        for name in names:
            about = attacks[name].get("description", attacks[name]["title"]).rstrip(".")
            shown = ", ".join(
                f"`{setting}`" for setting in expand(name, attacks[name].get("settings"))
            )
            lines.append(f"* **{name}**: {about}. {shown}")
    return "\n".join(lines) + "\n"


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def main() -> None:
    """Write docs/attacks.md."""
    attacks = yaml.safe_load((ROOT / "config" / "attacks.yaml").read_text(encoding="utf-8"))
    page = catalogue(attacks, ROOT / "scripts" / "attacks")
    (ROOT / "docs" / "attacks.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
