"""Byte ranges of files, and which requests read them all."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WASTE = 0.1  # bytes between ranges that may be read along, as a share of the bytes asked for
GAP = 1 << 18  # and never more than these between two of them
BLOCK = 8 << 20  # bytes of one request


class Span(NamedTuple):
    """Bytes `start` to `stop` (without it) of a file."""

    file: str
    start: int
    stop: int

    @property
    def header(self) -> str:
        """The value of the header Range."""
        return f"bytes={self.start}-{self.stop - 1}"


Spans = tuple[Span, ...]  # one item, perhaps across the border of two files


def blocks(spans: Sequence[Span], free: int = 0) -> list[Span]:
    """The requests that read all `spans`: neighbours become one.

    Gaps up to `free` bytes are read along, and of the others the smallest ones, as long as they
    are at most WASTE of the bytes asked for.
    """
    merged: list[Span] = []
    gaps: list[tuple[int, int]] = []
    for span in sorted(set(spans)):
        last = merged[-1] if merged else None
        if last and last.file == span.file and span.start <= last.stop + free:
            merged[-1] = last._replace(stop=max(last.stop, span.stop))
            continue
        if last and last.file == span.file and span.start - last.stop <= GAP:
            gaps.append((span.start - last.stop, len(merged)))
        merged.append(span)
    left = WASTE * sum(span.stop - span.start for span in merged)
    bridged = set()
    for size, index in sorted(gaps):
        left -= size
        if left < 0:
            break
        bridged.add(index)
    found: list[Span] = []
    for index, span in enumerate(merged):
        if index in bridged and span.stop - found[-1].start <= BLOCK:
            found[-1] = found[-1]._replace(stop=span.stop)
        else:
            found.append(span)
    return found


def pieces(span: Span, size: int = BLOCK) -> list[Span]:
    """A long range in parts of `size` bytes at most."""
    return [
        span._replace(start=start, stop=min(start + size, span.stop))
        for start in range(span.start, span.stop, size)
    ]


def touching(requests: list[Span], item: Spans) -> list[Span]:
    """Those of `requests` (sorted, disjoint) that hold bytes of the item."""
    found: dict[Span, None] = {}
    for span in item:
        at = bisect_right(requests, (span.file, span.start), key=lambda r: (r.file, r.stop))
        while at < len(requests) and requests[at].file == span.file:
            if requests[at].start >= span.stop:
                break
            found[requests[at]] = None
            at += 1
    return list(found)


def cut(done: Mapping[Span, bytes], requests: list[Span], item: Spans) -> bytes:
    """The bytes of an item out of the requests that hold them."""
    content = []
    for span in item:
        for request in touching(requests, (span,)):
            first, last = max(span.start, request.start), min(span.stop, request.stop)
            content.append(done[request][first - request.start : last - request.start])
    return b"".join(content)
