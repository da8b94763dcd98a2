"""What the files of a dataset of the hub cost."""

from collections.abc import Mapping
from itertools import chain

from scripts.hub.cache import cached
from scripts.hub.client import Repo, access, commit_of, tree
from scripts.hub.cost import Cost
from scripts.hub.lock import key
from scripts.hub.patterns import chosen


def cost(name: str, entry: Mapping, pins: Mapping[str, str]) -> Cost:
    """Bytes of the files that a fetch would take; rewritings come with the views that need them."""
    repo, revision = Repo("dataset", entry["id"]), entry["revision"]
    commit = pins.get(key(repo.kind, repo.id, revision)) or commit_of(repo, revision)
    files = tree(repo, commit)
    patterns = [file["path"] for file in entry["files"]]
    names = list(dict.fromkeys(chain(*chosen(files, patterns, f"{repo}@{revision}"))))
    missing = [path for path in names if not cached(repo, commit, path)]
    return Cost(
        name=name,
        files=len(names),
        bytes=sum(files[path].size for path in missing),
        cached_bytes=sum(files[path].size for path in names if path not in missing),
        requests=2 * len(missing),  # where it is, and the file itself
        gated=access(repo),
    )
