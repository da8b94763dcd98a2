"""Where the rows of a family lie: a dataset repo of the hub at one commit, or a web folder.

Both keep the protocol scripts.checkpoints.files.Files.
"""

import fnmatch
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import quote, urlsplit

from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import HTTPError
from huggingface_hub.utils import build_hf_headers, http_backoff

from scripts.checkpoints.files import Open
from scripts.errors import UserError
from scripts.hub.client import Repo, ask, tree
from scripts.hub.pin import pin
from scripts.hub.ranges import AGAIN, WORKERS, Reader
from scripts.hub.rows import Store
from scripts.hub.spans import Span, Spans

TIMEOUT = 30  # seconds


class _Ranges:
    """What both have: ranges are read through a store that stands beside the downloads."""

    name: str
    folder: Path

    @cached_property
    def _store(self) -> Store:
        return Store(self.folder / "rows.sqlite")

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self, self._store)

    def read(
        self,
        items: Sequence[Spans],
        valid: Callable[[bytes], bool] = bool,
        what: str = "rows",
        again: int = AGAIN,
        free: int = 0,
    ) -> list[bytes]:
        """See scripts.hub.ranges.Reader.read."""
        return self._reader.read(items, valid, what, again, free)

    def stream(self, span: Span, what: str = "file") -> Iterator[bytes]:
        """See scripts.hub.ranges.Reader.stream."""
        return self._reader.stream(span, what)

    def kept(self, keys: Iterable[str]) -> dict[str, bytes]:
        """What `keep` kept under these keys."""
        start = f"{self.name}/"
        return {
            k.removeprefix(start): v for k, v in self._store.get(start + k for k in keys).items()
        }

    def keep(self, items: Mapping[str, bytes]) -> None:
        """Keep what was made of these files, for the next time."""
        self._store.put({f"{self.name}/{key}": content for key, content in items.items()})


class HubFiles(_Ranges):
    """Files of a dataset repo at one commit."""

    def __init__(self, repo: str, commit: str):
        self.repo, self.commit = Repo("dataset", repo), commit
        self.name = f"{repo}@{commit}"
        self.folder = self.repo.folder / "pretrace"
        self._located: dict[str, tuple[str, dict[str, str]]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def sizes(self, *patterns: str) -> dict[str, int]:
        """Bytes of files by name: in the order of the patterns, and of names below each."""
        files = tree(self.repo, self.commit)
        sizes: dict[str, int] = {}
        for pattern in patterns:
            found = [pattern] if pattern in files else fnmatch.filter(sorted(files), pattern)
            if not found:
                raise UserError(f"{self.name}: no file {pattern}; check the entry in families.yaml")
            sizes |= {name: files[name].size for name in found}
        return sizes

    def locate(self, file: str, refused: str | None = None) -> tuple[str, dict[str, str]]:
        """The signed location of a file: asked for once, and again where it was `refused`."""
        with self._lock:
            lock = self._locks.setdefault(file, threading.Lock())
        with lock:  # of all threads that wait here, one asks
            if file not in self._located or self._located[file][0] == refused:
                self._located[file] = self._resolve(file)
            return self._located[file]

    def _resolve(self, file: str) -> tuple[str, dict[str, str]]:
        url = hf_hub_url(self.repo.id, file, repo_type="dataset", revision=self.commit)
        found = ask(
            self.repo,
            self.commit,
            lambda: get_hf_file_metadata(url, timeout=TIMEOUT, retry_on_errors=True),
        )
        # A signed location must not get the token; the hub itself needs it where a repo is gated.
        own = urlsplit(found.location).netloc == urlsplit(url).netloc
        return found.location, build_hf_headers() if own else {}


class WebFiles(_Ranges):
    """Files of a plain web folder; they have no commit, so nothing says that they stay."""

    def __init__(self, url: str):
        self.name = url.rstrip("/")
        self.folder = Path(constants.HF_HUB_CACHE).expanduser() / f"web--{quote(self.name, '')}"

    def sizes(self, *patterns: str) -> dict[str, int]:
        """Bytes of files by name; there is no listing, so patterns are names."""
        known = self.kept(f"size/{name}" for name in patterns)
        missing = [name for name in patterns if f"size/{name}" not in known]
        with ThreadPoolExecutor(WORKERS) as pool:
            asked = zip(missing, pool.map(self._size, missing), strict=True)
            fresh = {f"size/{name}": str(size).encode() for name, size in asked}
        self.keep(fresh)
        known |= fresh
        return {name: int(known[f"size/{name}"]) for name in patterns}

    def locate(self, file: str, refused: str | None = None) -> tuple[str, dict[str, str]]:
        """The address of a file; one that was `refused` has no other."""
        url = f"{self.name}/{file}"
        if refused:
            raise UserError(f"{url}: access is refused; check the entry in families.yaml")
        return url, {}

    def _size(self, file: str) -> int:
        url, _ = self.locate(file)
        try:
            response = http_backoff("HEAD", url, headers={"Accept-Encoding": "identity"})
            response.raise_for_status()
        except HTTPError as error:
            raise UserError(f"{url}: {str(error).splitlines()[0]}") from error
        return int(response.headers["Content-Length"])


def hub(lock: Path) -> Open:
    """A function that opens each place once; a dataset repo at the commit that `lock` pins."""

    @cache
    def opened(place: str) -> HubFiles | WebFiles:
        if "://" in place:
            return WebFiles(place)
        return HubFiles(place, pin(lock, Repo("dataset", place), "main"))

    return opened
