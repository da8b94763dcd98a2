"""What a model of the hub costs."""

import json
from collections.abc import Mapping

from scripts.hub.cache import cached, fetch
from scripts.hub.client import Repo, access, commit_of, tree
from scripts.hub.cost import Cost
from scripts.hub.files import small_files, weight_files, weight_index
from scripts.hub.lock import key


def cost(name: str, entry: Mapping, pins: Mapping[str, str]) -> Cost:
    """Bytes of the files that a fetch would take; the index of sharded weights is read for it."""
    repo = Repo("model", entry["id"])
    revision = entry["revision"]
    commit = pins.get(key(repo.kind, repo.id, revision)) or commit_of(repo, revision)
    gated = access(repo)
    files = tree(repo, commit)
    small = small_files(files, entry["trust_remote_code"])
    index = weight_index(files)
    note = ""
    content = None
    if index and (not gated or cached(repo, commit, index)):
        content = json.loads(fetch(repo, commit, [index])[index].read_bytes())
    elif index:
        note = "without the weights, whose list is gated"
    weights = [] if note else weight_files(files, content, f"{repo}@{revision}")
    names = [*small, *weights]
    there = {path for path in names if cached(repo, commit, path)}
    missing = [path for path in names if path not in there]
    return Cost(
        name=name,
        files=len(names),
        bytes=sum(files[path].size for path in missing),
        cached_bytes=sum(files[path].size for path in there),
        requests=2 * len(missing),  # where it is, and the file itself
        gated=gated,
        note=note,
    )
