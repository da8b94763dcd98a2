"""Rows of a training order: by position in it, from whatever kind of files a family has.

The kinds are modules of this package (`shards`, `samples`, `instances`, `parquet`, `lines`); each
has a class `Rows` that keeps the protocol below.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from scripts.checkpoints.files import Open


@dataclass(frozen=True)
class Row:
    """One training sequence."""

    position: int  # in the training order
    ids: np.ndarray  # int32, all that is stored
    group: str | None = None  # the document that most of it is from, where that is known
    domain: str | None = None


class Rows(Protocol):
    """The rows of one family in training order, those after its end included."""

    total: int  # positions

    def start(self, step: int) -> int:
        """The first position of a step."""

    def step(self, position: int) -> int:
        """The step that reads a position."""

    def read(self, positions: Sequence[int]) -> list[Row]:
        """The rows at these positions, which need not be sorted."""


class Batched:
    """Positions of steps where each step reads the same number of rows."""

    def __init__(self, batch: int, total: int):
        self.batch, self.total = batch, total

    def start(self, step: int) -> int:
        """The first position of a step."""
        return step * self.batch

    def step(self, position: int) -> int:
        """The step that reads a position."""
        return position // self.batch


def open_rows(family: dict, hub: Open, order: Path | None = None) -> Rows:
    """The rows of a family; `order` is a rebuilt order, where the family has no published one."""
    module = importlib.import_module(f"scripts.checkpoints.{family['rows']['kind']}")
    return module.Rows(family, hub, order)


def tokens(content: bytes, dtype: np.dtype | str = "<u2") -> np.ndarray:
    """Stored tokens as int32."""
    return np.frombuffer(content, dtype).astype(np.int32)


def within(vocabulary: int, dtype: np.dtype | str = "<u2") -> Callable[[bytes], bool]:
    """A check of stored tokens: all ids are below `vocabulary`."""
    return lambda content: bool((np.frombuffer(content, dtype) < vocabulary).all())
