"""Files of a dataset of the hub: in the cache, checked, and a folder of links to them.

Out: hub.json, what the folder holds and where it comes from, in the order of `files`.

Settings: id, revision (branch, tag or commit), files (paths or globs); pin: what
scripts/planning/pins.py planned it with, kept beside.
"""

from itertools import chain

from scripts.cli import arguments, run
from scripts.hub import manifest
from scripts.hub.cache import fetch
from scripts.hub.client import Repo, tree
from scripts.hub.patterns import chosen
from scripts.hub.pin import pin


def main() -> None:
    """Fetch the files of one dataset and write its manifest."""
    args = arguments(__doc__, ["lock", "manifest"])
    entry = args.settings
    repo = Repo("dataset", entry["id"])
    commit = pin(args.lock, repo, entry["revision"])
    files = tree(repo, commit)
    where = f"{repo}@{entry['revision']}"
    names = list(dict.fromkeys(chain(*chosen(files, entry["files"], where))))
    paths = fetch(repo, commit, names)
    folder = args.manifest.parent
    manifest.clear(folder)
    manifest.link(folder, paths)
    about = {key: entry[key] for key in ("id", "revision")} | {"commit": commit}
    manifest.write(args.manifest, about, {name: files[name] for name in names}, entry["pin"])


if __name__ == "__main__":
    run(main)
