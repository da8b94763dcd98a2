"""Megatron's indexed datasets: a ``.idx`` file with lengths and places, tokens in ``.bin`` files.

The index: 9 bytes ``MMIDIDX\\0\\0``, version 1 (uint64), dtype code (uint8), number of sequences
and of document entries (uint64), int32 lengths in tokens, int64 byte places, int64 document starts.
The tokens: little-endian, one sequence after the other, perhaps cut into several files.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scripts.errors import UserError
from scripts.hub.spans import Span, Spans

HEADER = 34  # bytes
_MAGIC = b"MMIDIDX\x00\x00"
_DTYPES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 6: "<f4", 7: "<f8", 8: "<u2"}


@dataclass(frozen=True)
class Index:
    """What the header of an index says, and where its parts are."""

    file: str
    dtype: np.dtype
    sequences: int

    def lengths(self, first: int, last: int) -> Span:
        """Where the int32 lengths in tokens of sequences `first` to `last` (without it) stand."""
        return Span(self.file, HEADER + 4 * first, HEADER + 4 * last)

    def places(self, first: int, last: int) -> Span:
        """Where the int64 places, in bytes of the tokens, of these sequences stand."""
        start = HEADER + 4 * self.sequences
        return Span(self.file, start + 8 * first, start + 8 * last)


def header(content: bytes, file: str) -> Index:
    """Parse the first HEADER bytes of an index; UserError where it is none."""
    if content[:9] != _MAGIC:
        raise UserError(f"{file} is no Megatron index: it does not start with {_MAGIC[:7]!r}")
    version, code, sequences, _ = struct.unpack("<QBQQ", content[9:HEADER])
    if version != 1 or code not in _DTYPES:
        raise UserError(f"{file}: version {version}, dtype code {code}: only version 1 is known")
    return Index(file, np.dtype(_DTYPES[code]), sequences)


@dataclass(frozen=True)
class Joined:
    """Files that are one long sequence of bytes, in this order."""

    files: tuple[str, ...]
    ends: np.ndarray  # int64 [files]: bytes up to and with each

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> "Joined":
        """Files by name with their sizes in bytes."""
        return cls(tuple(sizes), np.cumsum(list(sizes.values()), dtype=np.int64))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return int(self.ends[-1])

    def spans(self, start: int, stop: int) -> Spans:
        """Bytes `start` to `stop` (without it): one span, or several across borders of files."""
        if not 0 <= start < stop <= self.size:
            raise ValueError(f"bytes {start} to {stop} of {self.size}")
        found = []
        at = int(np.searchsorted(self.ends, start, side="right"))
        while start < stop:
            begin = int(self.ends[at - 1]) if at else 0
            end = min(stop, int(self.ends[at]))
            if end > start:
                found.append(Span(self.files[at], start - begin, end - begin))
            start, at = end, at + 1
        return tuple(found)
