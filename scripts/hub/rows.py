"""What was read by ranges, kept in the hub cache: one more row costs that row alone.

A key names the repo, its commit, the file and the bytes, so what it stands for never changes.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

_TABLE = "CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, digest BLOB, content BLOB)"
_TOGETHER = 500  # keys of one query
_PATIENCE = 300  # seconds to wait for another process that writes


class Store:
    """Bytes by key, in one SQLite file; each is checked against its digest when it is read."""

    def __init__(self, path: Path):
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._open() as database, database:
            database.execute(_TABLE)

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The stored bytes of those of `keys` that are there and whole."""
        wanted = sorted(keys)
        found = {}
        with self._open() as database:
            for start in range(0, len(wanted), _TOGETHER):
                part = wanted[start : start + _TOGETHER]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, digest, content FROM rows WHERE key IN ({marks})"
                for key, digest, content in database.execute(query, part):
                    if digest == _digest(content):
                        found[key] = content
        return found

    def put(self, items: Mapping[str, bytes]) -> None:
        """Keep these bytes, all or none of them."""
        rows = [(key, _digest(content), content) for key, content in items.items()]
        with self._open() as database, database:
            database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", rows)

    def _open(self) -> closing:
        return closing(sqlite3.connect(self._path, timeout=_PATIENCE))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
