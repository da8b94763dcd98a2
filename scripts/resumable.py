"""A folder for unfinished work that survives a kill; the next run goes on from what it holds."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from scripts.errors import UserError


@contextmanager
def resumable(output: Path, digest: str) -> Iterator[Path]:
    """A hidden folder beside `output`; it goes once the block ends well.

    Snakemake deletes what a job declared before it restarts it, so unfinished work lives here.
    `digest` stands for everything that decides the bytes: work on other inputs, settings or code
    is never mixed in, and is cleared. A lock keeps out a second process, e.g. an orphan of a
    killed workflow that still runs.
    """
    prefix = f".{output.name}.unfinished-"
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
        yield folder
        shutil.rmtree(folder)
    finally:
        lock.release()


def _remove_unless_locked(folder: Path) -> None:
    try:
        with FileLock(folder / "lock", blocking=False):
            shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        pass
