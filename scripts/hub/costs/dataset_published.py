"""What a published split costs."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from scripts.checkpoints.published import SPLITS
from scripts.hub.client import Repo, access, commit_of, tree
from scripts.hub.cost import Cost
from scripts.hub.lock import key


def cost(name: str, entry: Mapping, pins: Mapping[str, str]) -> Cost:
    """At most the whole files; row groups behind the last row that is wanted are not read."""
    repo = Repo("dataset", entry["id"])
    commit = pins.get(key(repo.kind, repo.id, "main")) or commit_of(repo, "main")
    patterns = [pattern for _, pattern in SPLITS.values()]
    sizes = [
        file.size
        for path, file in tree(repo, commit).items()
        if any(fnmatchcase(path, pattern) for pattern in patterns)
    ]
    return Cost(name, len(sizes), sum(sizes), None, None, access(repo), note="at most")
