"""Documents of a tokenised corpus in its own order: Megatron's index and shards, read by ranges."""

from collections.abc import Iterable, Sequence

import numpy as np

from scripts.checkpoints.files import Open, numbers
from scripts.checkpoints.megatron import HEADER, Joined, header
from scripts.checkpoints.rows import tokens, within
from scripts.hub.spans import Span


class Documents:
    """The corpus that `documents` of a family's entry describes."""

    def __init__(self, family: dict, hub: Open):
        entry = family["documents"]
        self._files = hub(entry["repo"])
        content = self._files.read([(Span(entry["index"], 0, HEADER),)], what="index", again=1)[0]
        self._index = header(content, entry["index"])
        self._joined = Joined.of(self._files.sizes(entry["files"]))
        self._valid = within(family["vocabulary"], self._index.dtype)
        self.count = self._index.sequences

    def sizes(self) -> np.ndarray:
        """Tokens of every document (int32); one long read."""
        span = self._index.lengths(0, self.count)
        return np.frombuffer(b"".join(self._files.stream(span, "document lengths")), "<i4")

    def lengths(self, documents: Iterable[int]) -> dict[int, int]:
        """Tokens of some documents."""
        wanted = sorted(documents)
        spans = [self._index.lengths(d, d + 1) for d in wanted]
        found = numbers(self._files, spans, "<i4", "document lengths")
        return {d: int(length[0]) for d, length in zip(wanted, found, strict=True)}

    def read(self, wanted: Sequence[Sequence[tuple[int, int, int]]]) -> list[np.ndarray]:
        """The ids (int32) of each item: (document, first token, end), joined."""
        documents = sorted({document for item in wanted for document, _, _ in item})
        spans = [self._index.places(d, d + 1) for d in documents]
        found = numbers(self._files, spans, "<i8", "places")
        place = {d: int(at[0]) for d, at in zip(documents, found, strict=True)}
        size = self._index.dtype.itemsize
        items = [
            tuple(
                span
                for d, first, last in item
                if last > first
                for span in self._joined.spans(place[d] + size * first, place[d] + size * last)
            )
            for item in wanted
        ]
        return [
            tokens(content, self._index.dtype) for content in self._files.read(items, self._valid)
        ]
