"""Which device a pass runs on. Snakemake hands out none, so local passes lock one each."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from scripts.errors import UserError


@contextmanager
def acquired(wanted: str) -> Iterator[torch.device]:
    """The device for `wanted` (auto, cpu, cuda or mps), this process's own as long as it runs.

    With CUDA the first device that no other pass holds. Where CUDA_VISIBLE_DEVICES is set, as on
    SLURM, someone else has chosen.
    """
    device = _kind(wanted)
    if device.type != "cuda" or "CUDA_VISIBLE_DEVICES" in os.environ:
        yield device
        return
    number, lock = _first_free(torch.cuda.device_count())
    try:
        torch.cuda.set_device(number)
        yield torch.device("cuda", number)
    finally:
        lock.release()


def _kind(wanted: str) -> torch.device:
    found = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    there = [name for name, is_there in found.items() if is_there]
    if wanted == "auto":
        return torch.device(there[0] if there else "cpu")
    if wanted not in [*there, "cpu"]:
        raise UserError(
            f"device: {wanted} is not there (PyTorch finds {', '.join([*there, 'cpu'])}); "
            "set device: auto, or install the PyTorch build for it"
        )
    return torch.device(wanted)


def _first_free(count: int) -> tuple[int, FileLock]:
    """The number and lock of a device that no other pass of this user holds; waits for one."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    folder = folder / f"pretrace-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        for number in range(count):
            lock = FileLock(folder / f"cuda-{number}.lock")
            try:
                lock.acquire(blocking=False)
                return number, lock
            except Timeout:
                continue
        time.sleep(1)
