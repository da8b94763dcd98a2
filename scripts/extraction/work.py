"""What the model reads and which tokens it scores: texts cut to the context, or in windows."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Work:
    """Token ids of all texts, one after the other, and the items that the model reads of them.

    Text i is ``ids[bounds[i]:bounds[i + 1]]``, already truncated. Item j reads
    ``ids[start[j]:stop[j] - 1]`` and scores the tokens ``first[j]:stop[j]`` (flat positions).
    Each token but the first of its text is scored by exactly one item.
    """

    ids: np.ndarray  # int64 [tokens]
    bounds: np.ndarray  # int64 [texts + 1]
    start: np.ndarray  # int64 [items]
    first: np.ndarray
    stop: np.ndarray

    @property
    def scored(self) -> int:
        """Number of scored tokens."""
        return int((self.stop - self.first).sum())


def plan_work(
    ids: np.ndarray, bounds: np.ndarray, window: int | None = None, stride: int = 0
) -> Work:
    """One item per text with a scored token; windows of `window` inputs where texts are longer.

    Window k starts `k * stride` tokens into its text and scores what no earlier window has.
    """
    start, first, stop = [], [], []
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        scored = low + 1
        while scored < high:
            end = high if window is None else min(high, low + window + 1)
            start.append(low)
            first.append(scored)
            stop.append(end)
            scored = end
            low += stride
    as_array = (np.asarray(part, np.int64) for part in (start, first, stop))
    return Work(ids, bounds, *as_array)
