"""Datasets of the hub: entries with `source: hub`, complete, with their files spelt out."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from scripts.errors import UserError
from scripts.planning.config import check, nearest

PUBLISHED = "published"  # the module of views that a dataset's authors made


def check_hub(entry: Mapping, views: Mapping[str, dict], schema: Path, at: str) -> dict:
    """An entry with `{part}` filled in: files as {path, label} and where its rewritings are."""
    shapes = _shapes(schema)
    if entry["shape"] not in shapes:
        raise UserError(f"{at}.shape: no '{entry['shape']}'{nearest(entry['shape'], shapes)}")
    valid = [name for name, view in views.items() if view["module"] == PUBLISHED]
    rewritings = {}
    for view, given in entry["rewritings"].items():
        if view not in valid:
            raise UserError(
                f"{at}.rewritings: no view '{view}' of the module 'published'{nearest(view, valid)}"
            )
        here = f"{at}.rewritings.{view}"
        own = check(given, "rewritings", schema, here)
        default = {key: entry[key] for key in ("id", "revision")}
        rewritings[view] = {**default, **own, "files": _files(own["files"], entry, schema, here)}
    files = _files(entry["files"], entry, schema, at)
    return {**entry, "files": files, "rewritings": rewritings}


@cache
def _shapes(schema: Path) -> set[str]:
    folder = schema.parents[1] / "scripts" / "sources" / "shapes"
    return {path.stem for path in folder.glob("[a-z]*.py")}


def _files(files: list, entry: Mapping, schema: Path, at: str) -> list[dict]:
    found = []
    for number, file in enumerate(files):
        here = f"{at}.files[{number}]"
        file = check({"path": file} if isinstance(file, str) else file, "hub_file", schema, here)
        if "{part}" in file["path"] and "part" not in entry:
            raise UserError(f"{here}: {file['path']}: give `part`, which stands for {{part}}")
        found.append({**file, "path": file["path"].replace("{part}", entry.get("part", ""))})
    return found
