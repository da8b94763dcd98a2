"""Finished parts survive a kill: the next run goes on behind them and ends with the same bytes."""

from pathlib import Path

import numpy as np

from scripts.atomic import replacing


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
