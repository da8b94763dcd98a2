"""Read byte ranges of files on the hub (or a plain web folder), and only these.

A file is resolved once; ranges are then read from its signed location, which is asked for again
when it has expired. Neighbouring ranges are read in one request. What was read is kept in a store.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Protocol

from huggingface_hub.errors import HTTPError
from huggingface_hub.utils import http_stream_backoff

from scripts.errors import UserError
from scripts.hub.rows import Store
from scripts.hub.spans import Span, Spans, blocks, cut, pieces
from scripts.progress import bar

WORKERS = 8  # requests at a time
TRIES = 4  # of a request whose body is cut or wrong
REFUSALS = 20  # of signed locations, which other threads may use up at once
TIMEOUT = 60  # seconds
PORTION = 2_000  # items that are read, checked and stored together
AGAIN = 100  # one in so many requests is made a second time


class Origin(Protocol):
    """Where files come from."""

    name: str  # with the commit: same name, same bytes

    def locate(self, file: str, refused: str | None = None) -> tuple[str, dict[str, str]]:
        """URL and headers to read a file with, but not the URL that was `refused`."""


class Reader:
    """Reads items of spans from one origin, through the store."""

    def __init__(self, origin: Origin, store: Store):
        self.origin = origin
        self.store = store

    def read(
        self,
        items: Sequence[Spans],
        valid: Callable[[bytes], bool] = bool,
        what: str = "rows",
        again: int = AGAIN,
        free: int = 0,
    ) -> list[bytes]:
        """The bytes of each item, its spans joined; gaps up to `free` bytes are read along.

        An item that is not `valid` is read again on its own; UserError if it stays wrong. A part of
        a file has no hash to check, so one in `again` requests is made twice and compared. What was
        read is stored every PORTION items, so that a run that is killed loses little.
        """
        keys = [self._key(item) for item in items]
        known = self.store.get(set(keys))
        missing = {k: item for k, item in zip(keys, items, strict=True) if k not in known}
        places = sorted(missing, key=missing.__getitem__)
        for first in range(0, len(places), PORTION):
            portion = {key: missing[key] for key in places[first : first + PORTION]}
            done = self._fetched(
                [span for item in portion.values() for span in item], what, again, free
            )
            requests = sorted(done)
            fresh = {
                key: self._validated(item, cut(done, requests, item), valid)
                for key, item in portion.items()
            }
            self.store.put(fresh)
            known |= fresh
        return [known[key] for key in keys]

    def _fetched(
        self, spans: Sequence[Span], what: str, again: int, free: int
    ) -> dict[Span, bytes]:
        """The requests that hold all `spans`, with their answers."""
        requests = [part for span in blocks(spans, free) for part in pieces(span)]
        done: dict[Span, bytes] = {}
        with bar(what=what, unit="B", total=sum(r.stop - r.start for r in requests)) as progress:
            for request, content in self._answers(requests):
                done[request] = content
                progress.update(len(content))
        for request, content in self._answers(requests[again // 2 :: again]):
            if content != done[request]:
                raise UserError(
                    f"{self.origin.name}: {request.file}, bytes {request.start} to "
                    f"{request.stop - 1}: a second reading gave other bytes than the first; the "
                    "server or a proxy in between is damaged: try again later"
                )
        return done

    def stream(self, span: Span, what: str = "file") -> Iterator[bytes]:
        """A long range in order, a block at a time, not kept in the store."""
        parts = pieces(span)
        with bar(what=what, unit="B", total=span.stop - span.start) as progress:
            for part in parts:
                content = self._request(part)
                progress.update(len(content))
                yield content

    def _key(self, item: Spans) -> str:
        return f"{self.origin.name}/" + "+".join(f"{f}:{start}-{stop}" for f, start, stop in item)

    def _answers(self, requests: list[Span]) -> Iterator[tuple[Span, bytes]]:
        with ThreadPoolExecutor(WORKERS) as pool:
            futures = {pool.submit(self._request, request): request for request in requests}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _validated(self, item: Spans, content: bytes, valid: Callable[[bytes], bool]) -> bytes:
        for _ in range(TRIES):
            if valid(content):
                return content
            content = b"".join(self._request(span) for span in item)
        raise UserError(
            f"{self._key(item)}: these bytes are not what they should be, after {TRIES} tries; "
            "the file on the server or a proxy in between is damaged: try again later"
        )

    def _request(self, span: Span) -> bytes:
        """The bytes of one range; its length and place are checked."""
        size = span.stop - span.start
        problem, refused, tries, refusals = "", None, 0, 0
        while tries < TRIES and refusals < REFUSALS:
            url, headers = self.origin.locate(span.file, refused)
            refused = None
            try:
                status, place, content = _get(url, {**headers, "Range": span.header})
            except HTTPError as error:
                problem, tries = f"{type(error).__name__}: {error}", tries + 1
                time.sleep(tries)
                continue
            if status in (401, 403):  # a signed location expires
                problem, refused, refusals = f"access is refused ({status})", url, refusals + 1
                continue
            if len(content) == size and place.startswith(f"bytes {span.start}-{span.stop - 1}/"):
                return content
            problem, tries = f"status {status}, {len(content)} of {size} bytes ({place})", tries + 1
        raise UserError(
            f"{self.origin.name}: {span.file}, bytes {span.start} to {span.stop - 1}: "
            f"{problem}, each time: try again later, or check the access to it"
        )


def _get(url: str, headers: dict[str, str]) -> tuple[int, str, bytes]:
    """Status, Content-Range and body; a body that is no part of the file is not read: it could be
    the whole one.
    """
    broken = None
    with http_stream_backoff("GET", url, headers=headers, timeout=TIMEOUT) as response:
        content = b""
        if response.status_code == 206:
            try:
                content = response.read()
            except HTTPError as error:  # within the block, the client would take it for its own
                broken = error
        place = response.headers.get("Content-Range", "")
    if broken is not None:
        raise broken
    return response.status_code, place, content
