"""From a revision to its commit: by the lock file, or asked for once and written there."""

from pathlib import Path

import yaml
from filelock import FileLock

from scripts.atomic import replacing
from scripts.hub.client import COMMIT, Repo, commit_of
from scripts.hub.lock import key, read_lock

HEADER = (
    "# The commit of each hub revision, written when it was first used. Commit this file, so that\n"
    "# others get the same bytes; remove a line to take what its branch holds now.\n"
)


def pin(lock: Path, repo: Repo, revision: str) -> str:
    """The commit of a revision; a commit is its own and needs no pin."""
    if COMMIT.fullmatch(revision):
        return revision
    name = key(repo.kind, repo.id, revision)
    known = read_lock(lock)
    if name in known:
        return known[name]
    state = Path(".snakemake")  # not beside the pins: users commit that folder
    state.mkdir(exist_ok=True)
    with FileLock(state / "hub.lock"):
        known = read_lock(lock)
        if name not in known:
            known[name] = commit_of(repo, revision)
            with replacing(lock) as temporary:
                temporary.write_text(HEADER + yaml.safe_dump(known, width=1000), encoding="utf-8")
    return known[name]
