"""A local Hugging Face hub over real HTTP, for tests: the real client cannot tell the difference.

    with Hub(folder) as hub:
        (hub.revision("models", "ns/name", "step10") / "config.json").write_text("{}")
        run(..., env={"HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": str(cache)})
        assert hub.sent("*/model.safetensors") < 1000

What it serves lies in `folder/{models,datasets}/{namespace}/{name}/{revision}/…`: each revision is
a branch (a name with a slash as `quote(name, safe="")`), whose commit follows from its name and its
content. Files may change while it serves; a commit that nothing has any more is "not found". Files
with a suffix of LFS are large files: the tree names their sha256, and with `redirect` they are
fetched from a signed location on another origin, valid for `uses` requests.

    hub.endpoint            what HF_ENDPOINT must be
    hub.commit(kind, id, revision)      the commit that a branch has now
    hub.requests            a `Request` (method, path, status, sent, range, token) each, in order
    hub.sent(pattern)       bytes of bodies sent for paths that match
    hub.fail(Fault(...))    inject a fault; `hub.faults.clear()` ends all
    hub.gate(id, token)     files of this repo need the token (401 without any, 403 with another)

Paths are those of the request without its query, e.g. `/ns/name/resolve/main/config.json`,
`/datasets/ns/name/resolve/…`, `/api/models/ns/name/tree/main`, `/signed/…/model.safetensors`.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

LFS = {".safetensors", ".bin", ".pt", ".parquet", ".npy", ".idx", ".zst", ".gz", ".gguf"}
CHUNK = 1 << 16


@dataclass(frozen=True)
class Request:
    """One request as the hub answered it; `sent` counts the bytes of the body."""

    method: str
    path: str
    status: int
    sent: int
    range: str | None
    token: str | None


@dataclass
class Fault:
    """What goes wrong with requests whose path matches `pattern`, `times` times (None: always).

    One of: `status` (with `retry_after` seconds, and `code` for X-Error-Code), `cut` (the body ends
    after so many bytes), `corrupt` (the first byte of the body is wrong, its length right),
    `delay` (seconds before the answer).
    """

    pattern: str
    times: int | None = None
    method: str = "GET"
    status: int | None = None
    retry_after: int | None = None
    code: str | None = None
    cut: int | None = None
    corrupt: bool = False
    delay: float = 0.0


class NotFoundError(Exception):
    """What a request names is not there; its text is the value of X-Error-Code."""


@dataclass
class Hub:
    """The server; see the module's docstring."""

    folder: Path
    redirect: bool = False  # large files from a signed location
    uses: int | None = None  # requests that a signed location is good for
    page: int = 1000  # entries of a tree per answer
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    gates: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> "Hub":
        """Serve on two free ports: the hub's own and the one of signed locations."""
        self.lock = threading.Lock()
        self.signed: dict[str, int] = {}
        handler = type("Handler", (_Handler,), {"hub": self})
        self.servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
        self.endpoint, self.store = (f"http://127.0.0.1:{s.server_port}" for s in self.servers)
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def revision(self, kind: str, repo: str, revision: str = "main") -> Path:
        """The folder of a revision, made if need be; `kind` is models or datasets."""
        path = self.folder / kind / repo / quote(revision, safe="")
        path.mkdir(parents=True, exist_ok=True)
        return path

    def fail(self, fault: Fault) -> None:
        """Inject a fault from now on."""
        self.faults.append(fault)

    def gate(self, repo: str, token: str) -> None:
        """Let only requests with `token` have files of `repo`."""
        self.gates[repo] = token

    def sent(self, pattern: str = "*") -> int:
        """Bytes of bodies that were sent for paths that match `pattern`."""
        return sum(r.sent for r in self.requests if fnmatchcase(r.path, pattern))

    def commit(self, kind: str, repo: str, revision: str = "main") -> str:
        """The commit that a branch has now."""
        return self.branches(kind, repo)[revision]

    def branches(self, kind: str, repo: str) -> dict[str, str]:
        """Branch names of a repo with their commits."""
        base = self.folder / kind / repo
        if not base.is_dir():
            raise NotFoundError("RepoNotFound")
        return {unquote(f.name): _commit(f) for f in sorted(base.iterdir()) if f.is_dir()}

    def resolve(self, kind: str, repo: str, revision: str) -> tuple[Path, str]:
        """The folder and the commit behind a branch name or a commit."""
        for name, commit in self.branches(kind, repo).items():
            if revision in (name, commit):
                return self.revision(kind, repo, name), commit
        raise NotFoundError("RevisionNotFound")

    def sign(self, path: Path) -> str:
        """A location for a large file, good for `uses` requests."""
        with self.lock:
            key = f"/signed/{len(self.signed)}{path.resolve()}"
            self.signed[key] = 0
        return self.store + quote(key)


def files(folder: Path) -> list[Path]:
    """All files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def digests(path: Path) -> tuple[str, str]:
    """The git blob sha1 and the sha256 of a file."""
    state = path.stat()
    return _digests(path, state.st_size, state.st_mtime_ns)


@cache
def _digests(path: Path, size: int, mtime: int) -> tuple[str, str]:
    sha1, sha256 = hashlib.sha1(f"blob {size}\0".encode()), hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            sha1.update(chunk)
            sha256.update(chunk)
    return sha1.hexdigest(), sha256.hexdigest()


def _commit(folder: Path) -> str:
    content = "".join(f"{path.relative_to(folder)} {digests(path)[1]}\n" for path in files(folder))
    return hashlib.sha1(f"{folder.name}\n{content}".encode()).hexdigest()


def _entries(folder: Path, inside: str, recursive: bool) -> Iterator[dict]:
    base = folder / inside
    if not base.is_dir():
        raise NotFoundError("EntryNotFound")
    for path in sorted(base.rglob("*") if recursive else base.iterdir()):
        yield _entry(path, folder)


def _entry(path: Path, folder: Path) -> dict:
    name = path.relative_to(folder).as_posix()
    if path.is_dir():
        oid = hashlib.sha1(name.encode()).hexdigest()
        return {"type": "directory", "path": name, "oid": oid, "size": 0}
    sha1, sha256 = digests(path)
    size = path.stat().st_size
    entry = {"type": "file", "path": name, "size": size, "oid": sha1}
    if path.suffix in LFS:
        entry["lfs"] = {"oid": sha256, "size": size, "pointerSize": 130}
    return entry


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing: `hub.requests` holds what was asked."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        self.plain, self.query = unquote(url.path), parse_qs(url.query)
        length = int(self.headers.get("Content-Length", 0))
        self.form = parse_qs(self.rfile.read(length).decode()) if length else {}
        self.fault = self._fault() or Fault("")
        time.sleep(self.fault.delay)
        try:
            if self.fault.status:
                self._error(self.fault.status, self.fault.code)
            elif self.plain.startswith("/signed/"):
                self._signed()
            elif self.plain.startswith("/api/"):
                self._api(self.plain.split("/")[2:])
            else:
                self._resolve([part for part in self.plain.split("/") if part])
        except NotFoundError as error:
            self._error(404, str(error))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _fault(self) -> Fault | None:
        with self.hub.lock:
            for fault in self.hub.faults:
                if fault.method != self.command or not fnmatchcase(self.plain, fault.pattern):
                    continue
                if fault.times is None or fault.times > 0:
                    fault.times = None if fault.times is None else fault.times - 1
                    return fault
        return None

    def _api(self, parts: list[str]) -> None:
        if len(parts) < 3 or parts[0] not in ("models", "datasets"):
            raise NotFoundError("RepoNotFound")
        kind, repo, what = parts[0], "/".join(parts[1:3]), parts[3:]
        if what[:1] == ["refs"]:
            branches = [
                {"name": name, "ref": f"refs/heads/{name}", "targetCommit": commit}
                for name, commit in self.hub.branches(kind, repo).items()
            ]
            self._json({"branches": branches, "converts": [], "tags": []})
        elif what[:1] == ["tree"] or what[:1] == ["paths-info"]:
            # A branch name may hold slashes, which the client quotes and `plain` does not.
            raw = urlsplit(self.path).path.split("/")[6:]
            folder, commit = self.hub.resolve(kind, repo, unquote(raw[0]))
            if what[0] == "paths-info":
                found = [folder / path for path in self.form["paths"]]
                self._json([_entry(path, folder) for path in found if path.exists()])
                return
            recursive = self.query.get("recursive", ["false"])[0].lower() == "true"
            entries = list(_entries(folder, unquote("/".join(raw[1:])), recursive))
            start = int(self.query.get("cursor", ["0"])[0])
            more = {"X-Repo-Commit": commit}
            if start + self.hub.page < len(entries):
                link = f"{self.hub.endpoint}{urlsplit(self.path).path}"
                query = f"recursive={str(recursive).lower()}&cursor={start + self.hub.page}"
                more["Link"] = f'<{link}?{query}>; rel="next"'
            self._json(entries[start : start + self.hub.page], more)
        elif what[0:1] == ["auth-check"]:
            self.hub.branches(kind, repo)
            status = self._refused(repo)
            self._error(status, "GatedRepo") if status else self._json({})
        elif not what or what[0] == "revision":
            raw = urlsplit(self.path).path.split("/")[6:]
            folder, commit = self.hub.resolve(kind, repo, unquote(raw[0]) if raw else "main")
            names = [path.relative_to(folder).as_posix() for path in files(folder)]
            info = {
                **{"id": repo, "_id": commit[:24], "sha": commit, "tags": [], "private": False},
                **{"gated": "manual" if repo in self.hub.gates else False, "disabled": False},
                **{"downloads": 0, "likes": 0, "lastModified": "2026-01-01T00:00:00.000Z"},
                **{"createdAt": "2026-01-01T00:00:00.000Z"},
                "siblings": [{"rfilename": name} for name in names],
            }
            self._json(info)
        else:
            raise NotFoundError("EntryNotFound")

    def _resolve(self, parts: list[str]) -> None:
        kind = "datasets" if parts[0] == "datasets" else "models"
        at = 1 if kind == "datasets" else 0
        raw = [part for part in urlsplit(self.path).path.split("/") if part][at:]
        if len(raw) < 5 or raw[2] != "resolve":
            raise NotFoundError("RepoNotFound")
        repo = "/".join(raw[:2])
        folder, commit = self.hub.resolve(kind, repo, unquote(raw[3]))
        if status := self._refused(repo):
            self._error(status, "GatedRepo")
            return
        path = folder / unquote("/".join(raw[4:]))
        commit_header = {"X-Repo-Commit": commit}
        if not path.is_file():
            self._error(404, "EntryNotFound", commit_header)
            return
        sha1, sha256 = digests(path)
        headers = {**commit_header, "ETag": f'"{sha256 if path.suffix in LFS else sha1}"'}
        if path.suffix in LFS:
            headers |= {"X-Linked-Etag": headers["ETag"], "X-Linked-Size": path.stat().st_size}
            if self.hub.redirect:
                self._send(302, b"", {**headers, "Location": self.hub.sign(path)})
                return
        self._file(path, headers)

    def _refused(self, repo: str) -> int | None:
        """The status for who may not have the files of a gated repo."""
        bearer = self.headers.get("Authorization")
        if repo not in self.hub.gates or bearer == f"Bearer {self.hub.gates[repo]}":
            return None
        return 403 if bearer else 401

    def _signed(self) -> None:
        with self.hub.lock:
            used = self.hub.signed.get(self.plain)
            if used is not None:
                self.hub.signed[self.plain] += 1
        if used is None or (self.hub.uses is not None and used >= self.hub.uses):
            self._error(403, None)
            return
        self._file(Path("/", *self.plain.split("/")[3:]), {})

    def _file(self, path: Path, headers: dict) -> None:
        size = path.stat().st_size
        start, stop, status = 0, size, 200
        asked = self.headers.get("Range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(0, size - int(last))
            stop = min(size, int(last) + 1) if first and last else size
            if start >= size:
                self._send(416, b"", {"Content-Range": f"bytes */{size}"})
                return
            status = 206
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        with path.open("rb") as file:
            file.seek(start)
            self._send(status, file, {**headers, "Accept-Ranges": "bytes"}, stop - start)

    def _json(self, value: object, headers: dict | None = None) -> None:
        body = json.dumps(value).encode()
        self._send(200, body, {"Content-Type": "application/json", **(headers or {})})

    def _error(self, status: int, code: str | None, headers: dict | None = None) -> None:
        headers = dict(headers or {})
        if code:
            headers["X-Error-Code"] = code
        if self.fault.retry_after is not None:
            headers["Retry-After"] = self.fault.retry_after
        self._send(status, b"", headers)

    def _send(self, status: int, body, headers: dict, length: int | None = None) -> None:
        length = len(body) if length is None else length
        self.send_response(status)
        for name, value in {**headers, "Content-Length": length}.items():
            self.send_header(name, str(value))
        self.end_headers()
        sent = 0
        try:
            if self.command != "HEAD":
                sent = self._body(body, length)
        finally:
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
            done = Request(self.command, self.plain, status, sent, self.headers.get("Range"), token)
            with self.hub.lock:
                self.hub.requests.append(done)

    def _body(self, body, length: int) -> int:
        limit, sent = length, 0
        if self.fault.cut is not None and self.fault.cut < length:
            limit, self.close_connection = self.fault.cut, True
        while sent < limit:
            size = min(CHUNK, limit - sent)
            chunk = body[sent : sent + size] if isinstance(body, bytes) else body.read(size)
            if self.fault.corrupt and sent == 0:
                chunk = bytes([chunk[0] ^ 255]) + chunk[1:]
            self.wfile.write(chunk)
            sent += len(chunk)
        return sent
