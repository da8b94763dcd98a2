"""Finished parts survive a kill: the next run goes on behind them and ends with the same bytes."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from scripts.atomic import replacing
from scripts.errors import UserError


class Parts:
    """Arrays by number in one folder; a part is there whole or not at all."""

    def __init__(self, folder: Path):
        self.folder = folder

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.npy"

    def has(self, number: int) -> bool:
        """Whether an earlier run finished this part."""
        return self._path(number).exists()

    def load(self, number: int) -> np.ndarray:
        """The array of a finished part."""
        return np.load(self._path(number), allow_pickle=False)

    def save(self, number: int, array: np.ndarray) -> None:
        """Keep `array` as this part."""
        with replacing(self._path(number)) as temporary, temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)


@contextmanager
def resumable(output: Path, digest: str) -> Iterator[Parts]:
    """The parts of `output`, in a hidden folder beside it; it goes once the block ends well.

    `digest` stands for everything that decides the bytes, so parts of other weights, texts,
    settings or code are never mixed in. A lock on the folder keeps out a second process, e.g. an
    orphan of a killed workflow that still runs.
    """
    prefix = f".{output.name}.parts-"
    folder = output.with_name(f"{prefix}{digest[:16]}")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise UserError(
            f"another process is already making {output} (it holds {folder / 'lock'}); "
            "wait for it or end it, then run again"
        ) from None
    try:
        for other in output.parent.glob(f"{prefix}*"):
            if other != folder:
                _remove_unless_locked(other)
        yield Parts(folder)
        shutil.rmtree(folder)
    finally:
        lock.release()


def _remove_unless_locked(folder: Path) -> None:
    try:
        with FileLock(folder / "lock", blocking=False):
            shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        pass
