"""Files of the hub in the hub cache, each checked against the hub's own hash.

The client checks sizes only, so wrong bytes of the right length would pass.
"""

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache

from scripts.errors import UserError
from scripts.hub.client import RemoteFile, Repo, ask, tree

AT_ONCE = 4  # downloads
CHUNK = 1 << 22


def fetch(repo: Repo, commit: str, names: Sequence[str]) -> dict[str, Path]:
    """Paths in the cache of `names`, files of a commit; what is missing is downloaded.

    Each is right in size and hash, or UserError: a file that is not is removed and fetched once
    more. Processes that want the same commit at once take turns, so that it is downloaded once.
    """
    files = tree(repo, commit)
    with _alone(repo, commit):
        _check_space(repo, commit, {name: files[name] for name in names})
        with ThreadPoolExecutor(AT_ONCE) as pool:
            paths = pool.map(lambda name: _verified(repo, commit, name, files[name]), names)
            return dict(zip(names, paths, strict=True))


def cached(repo: Repo, commit: str, name: str) -> bool:
    """Whether the cache has a file of a commit (in what state, only `fetch` knows)."""
    found = try_to_load_from_cache(repo.id, name, repo_type=repo.kind, revision=commit)
    return isinstance(found, str)


def matches(path: Path, file: RemoteFile) -> bool:
    """Whether a local file is what the hub describes, by size and hash."""
    size = path.stat().st_size
    if size != file.size:
        return False
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(f"blob {size}\0".encode())
    with path.open("rb") as content:
        while chunk := content.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == file.digest


def _verified(repo: Repo, commit: str, name: str, file: RemoteFile) -> Path:
    for _ in range(2):
        if file.size >= 1e6 and not cached(repo, commit, name):
            print(f"{repo.id}: {name}, {file.size / 1e6:,.1f} MB", file=sys.stderr, flush=True)
        where = dict(repo_type=repo.kind, revision=commit)
        path = Path(ask(repo, commit, lambda: hf_hub_download(repo.id, name, **where)))  # noqa: B023
        if matches(path, file):
            return path
        print(f"{path} is not what the hub describes: removed", file=sys.stderr, flush=True)
        _discard(path)
    raise UserError(
        f"{repo}@{commit[:12]}: {name} came twice with other bytes than the hub's own hash "
        f"{file.digest[:12]} allows; it was removed. Try again later, or without a mirror "
        "(HF_ENDPOINT)"
    )


def _discard(path: Path) -> None:
    """Remove a file of the cache and all links on the way to its content."""
    while path.is_symlink():
        target = path.parent / path.readlink()
        path.unlink()
        path = target
    path.unlink(missing_ok=True)


def _check_space(repo: Repo, commit: str, files: dict[str, RemoteFile]) -> None:
    missing = sum(file.size for name, file in files.items() if not cached(repo, commit, name))
    repo.folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(repo.folder).free
    if missing > free:
        raise UserError(
            f"{repo}: {missing / 1e9:.1f} GB to fetch, {free / 1e9:.1f} GB free in "
            f"{constants.HF_HUB_CACHE}; free some space or set HF_HUB_CACHE to another disk"
        )


@contextmanager
def _alone(repo: Repo, commit: str) -> Iterator[None]:
    path = repo.folder.parent / ".locks" / "pretrace" / f"{repo.folder.name}@{commit}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        print(f"{repo.id}: another job is fetching it; waiting", file=sys.stderr, flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
