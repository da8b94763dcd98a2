"""What goes wrong with the hub, in one line that says what to do."""

import difflib
import errno
from collections.abc import Collection

from huggingface_hub import constants
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    RevisionResolutionError,
)

from scripts.errors import UserError


class NoNetworkError(UserError):
    """The hub cannot be reached at all: there is no use in asking for the next thing."""


def explain(
    error: BaseException, repo: str, revision: str, branches: Collection[str] = ()
) -> UserError | None:
    """What the user can do about `error`; None where it is not the hub's (a full disk, a bug).

    `repo` is the kind and id of the repository, `branches` the revisions that it has.
    """
    if isinstance(error, LocalEntryNotFoundError | RevisionResolutionError) and error.__cause__:
        return explain(error.__cause__, repo, revision, branches)
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return None
    text = _text(error, repo, revision, branches)
    if text is not None:
        return UserError(f"{repo}@{revision}: {text}")
    if isinstance(error, HTTPError):  # without an answer
        return NoNetworkError(
            f"{repo}@{revision}: cannot reach {constants.ENDPOINT} ({type(error).__name__}); check "
            "the network, or set HF_HUB_OFFLINE=1 to use what the cache has"
        )
    return None


def _text(error, repo: str, revision: str, branches: Collection[str]) -> str | None:
    at = constants.ENDPOINT
    if isinstance(error, GatedRepoError):
        name = repo.partition(" ")[2]
        return (
            f"gated: accept its terms at {at}/{name} in a browser and set HF_TOKEN to a token of "
            f"that account ({error.response.status_code})"
        )
    if isinstance(error, RevisionNotFoundError):
        close = difflib.get_close_matches(revision, branches, n=3)
        valid = close or sorted(branches)[:8]
        return f"no such branch, tag or commit; nearest: {', '.join(valid) or 'none'}"
    if isinstance(error, RepositoryNotFoundError):
        return f"not found at {at}; check the `id`, and if it is private set HF_TOKEN"
    if isinstance(error, DisabledRepoError):
        return "its owner or the hub has disabled it"
    if isinstance(error, OfflineModeIsEnabled | LocalEntryNotFoundError | RevisionResolutionError):
        return (
            f"not in the cache {constants.HF_HUB_CACHE}, and HF_HUB_OFFLINE is set; unset it once "
            "to fetch, or set HF_HUB_CACHE to a cache that has it"
        )
    if isinstance(error, EntryNotFoundError):
        return f"the hub has no such file ({error})"
    if isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        if status == 401:
            return f"{at} does not accept HF_TOKEN; make a new one, or unset it"
        if status == 429:
            return f"{at} refuses more requests for now (429); wait, or set HF_TOKEN for more"
        return f"{at} answers {status}; try again later: what was fetched is kept"
    if type(error) is OSError:  # the client's check of a file's size
        return f"broken off each time ({error}); try again later"
    return None
