"""A folder of links to files in the hub cache, and hub.json, which says what they are."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from scripts.atomic import replacing
from scripts.hub.client import RemoteFile


def clear(folder: Path) -> None:
    """Remove what an earlier fetch, perhaps of another commit, left."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def link(folder: Path, paths: Mapping[str, Path]) -> None:
    """Links below `folder` to files of the cache, by the names that they have on the hub."""
    for name, path in paths.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(path)


def write(path: Path, about: Mapping, files: Mapping[str, RemoteFile], pin: str) -> None:
    """hub.json: `about` and the size and hash of each file; and beside it the planned `pin`."""
    described = {name: _described(file) for name, file in files.items()}
    (path.parent / ".pin").write_text(pin)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps({**about, "files": described}, indent=1) + "\n")


def _described(file: RemoteFile) -> dict:
    kind = "sha256" if file.sha256 else "git_sha1"
    return {"size": file.size, kind: file.digest}
