"""What a repository of the Hugging Face hub holds, at which commit.

A thin layer over huggingface_hub. The environment is the client's own: HF_ENDPOINT, HF_HUB_CACHE,
HF_TOKEN, HF_HUB_OFFLINE. What was asked about a commit is kept beside the repository in the cache,
so that it is asked once and known offline.
"""

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

from huggingface_hub import HfApi, constants
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RevisionNotFoundError,
    RevisionResolutionError,
    XetDownloadError,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.hf_api import RepoFile

from scripts.errors import UserError
from scripts.hub.errors import explain

T = TypeVar("T")

COMMIT = re.compile(r"[0-9a-f]{40}")
PASSING = {408, 429, 500, 502, 503, 504}
WAITS = (1, 2, 4, 8, 16)  # seconds before a call is tried again
LONGEST = 300  # the hub counts requests in windows of five minutes


@dataclass(frozen=True)
class Repo:
    """A repository of the hub."""

    kind: str  # model or dataset
    id: str

    def __str__(self) -> str:
        """As errors name it."""
        return f"{self.kind} {self.id}"

    @property
    def folder(self) -> Path:
        """Its folder in the hub cache."""
        name = repo_folder_name(repo_id=self.id, repo_type=self.kind)
        return Path(constants.HF_HUB_CACHE).expanduser().resolve() / name


@dataclass(frozen=True)
class RemoteFile:
    """A file as the hub describes it; `sha256` for large files, else the sha1 of its git blob."""

    size: int
    sha256: str | None
    git_sha1: str

    @property
    def digest(self) -> str:
        """What its content must hash to."""
        return self.sha256 or self.git_sha1


def offline() -> bool:
    """Whether the user wants no request at all (HF_HUB_OFFLINE)."""
    return bool(constants.HF_HUB_OFFLINE)


def commit_of(repo: Repo, revision: str) -> str:
    """The commit that a branch or tag has now; a commit is its own."""
    if COMMIT.fullmatch(revision):
        return revision
    if offline():  # another program may have resolved it
        known = dict(repo_type=repo.kind, revision=revision, local_files_only=True)
        return ask(repo, revision, lambda: HfApi().resolve_revision(repo.id, **known).resolved)
    info = ask(
        repo,
        revision,
        lambda: HfApi().repo_info(repo.id, repo_type=repo.kind, revision=revision),
    )
    return info.sha


def branches(repo: Repo) -> dict[str, str]:
    """Branch and tag names with their commits; offline, those of the last time."""
    kept = repo.folder / "pretrace" / "refs.json"
    if offline() and kept.is_file():
        return json.loads(kept.read_bytes())
    refs = ask(repo, None, lambda: HfApi().list_repo_refs(repo.id, repo_type=repo.kind))
    found = {ref.name: ref.target_commit for ref in [*refs.tags, *refs.branches]}
    _keep(kept, found)
    return found


def tree(repo: Repo, commit: str) -> dict[str, RemoteFile]:
    """All files of a commit, by path."""
    kept = repo.folder / "pretrace" / f"{commit}.json"
    if kept.is_file():
        return {path: RemoteFile(**file) for path, file in json.loads(kept.read_bytes()).items()}
    entries = ask(
        repo,
        commit,
        lambda: list(
            HfApi().list_repo_tree(repo.id, repo_type=repo.kind, revision=commit, recursive=True)
        ),
    )
    found = {
        entry.path: RemoteFile(entry.size, entry.lfs and entry.lfs.sha256, entry.blob_id)
        for entry in entries
        if isinstance(entry, RepoFile)
    }
    _keep(kept, {path: vars(file) for path, file in sorted(found.items())})
    return found


def access(repo: Repo) -> str:
    """What keeps this user from the files of a gated repository, and what to do; "" if nothing."""
    try:
        ask(repo, "main", lambda: HfApi().auth_check(repo.id, repo_type=repo.kind))
    except UserError as error:
        if isinstance(error.__cause__, GatedRepoError):
            return str(error)
        if isinstance(error.__cause__, OfflineModeIsEnabled):
            return ""  # what the cache has can be used
        raise
    return ""


def ask(repo: Repo, revision: str | None, call: Callable[[], T]) -> T:
    """`call()`, tried again where the hub or the network fails for a moment.

    `revision` is what is asked about; its absence is explained by the branches that there are.

    The client itself does not try downloads again after a 5xx. Raises UserError.
    """
    for wait in (*WAITS, None):
        try:
            return call()
        except (HTTPError, OSError, RevisionResolutionError, XetDownloadError) as error:
            if wait is None or not _passes(error):
                absent = revision is not None and isinstance(error, RevisionNotFoundError)
                known = branches(repo) if absent else {}
                mended = explain(error, str(repo), revision or "main", known)
                if mended is None:
                    raise
                raise mended from error
            time.sleep(max(wait, _asked_to_wait(error)))
    raise AssertionError("the last attempt returns or raises")


def _passes(error: BaseException) -> bool:
    """Whether the same request may well succeed a little later."""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in PASSING
    if isinstance(error, OfflineModeIsEnabled):
        return False
    if isinstance(error, LocalEntryNotFoundError):  # what the client makes of a failed HEAD
        return error.__cause__ is not None and _passes(error.__cause__)
    # The client's check of a file's size is a plain OSError.
    return isinstance(error, HTTPError | XetDownloadError) or type(error) is OSError


def _asked_to_wait(error: BaseException) -> float:
    response = getattr(error, "response", None)
    seconds = response.headers.get("Retry-After", "") if response is not None else ""
    return min(float(seconds), LONGEST) if seconds.isdigit() else 0.0


def _keep(path: Path, value: object) -> None:
    # Not `replacing`, which clears what others left: several jobs may keep the same answer at once.
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False) as temporary:
        json.dump(value, temporary, indent=1, sort_keys=True)
    os.replace(temporary.name, path)
