"""What an attack gets and gives: ragged columns of token statistics in, one score per text out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from scripts.errors import UserError

# Smallest standard deviation, nats. A distribution with all its mass on one token has sigma = 0;
# Gap-K%'s released code clamps the variance at 1e-8. With it, a certain and correct prediction
# scores 0 in Min-K%++ and Gap-K%, and a certain and wrong one a large, finite penalty.
SMALLEST_STD = 1e-4


@dataclass(frozen=True, eq=False)
class Ragged(NDArrayOperatorsMixin):
    """One row of numbers per text, of different lengths.

    `values` holds the rows one after the other, row i is ``values[offsets[i]:offsets[i + 1]]``.
    Arithmetic and numpy's elementwise functions work on the values and keep the rows. Every
    reduction treats a row by itself, so that a text gets the same bits alone, reordered or among
    others (a cumulative sum over all rows would not give that).
    """

    values: np.ndarray
    offsets: np.ndarray

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[float]]) -> "Ragged":
        """The ragged array with these rows."""
        lengths = [len(row) for row in rows]
        values = np.concatenate([np.asarray(row) for row in rows]) if rows else np.empty(0)
        return cls(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__":
            return NotImplemented
        values = [x.values if isinstance(x, Ragged) else x for x in inputs]
        return Ragged(ufunc(*values, **kwargs), self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """Numbers in each row, int64 [n]."""
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> np.ndarray:
        """The row that each value stands in, int64 [values]."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def ascending(self) -> "Ragged":
        """Every row sorted; kept, so that all ratios of an attack share one sort."""
        values = self.values.copy()
        for start, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            values[start:end].sort()
        return Ragged(values, self.offsets)

    def means(self) -> np.ndarray:
        """Mean of each row, float64 [n]."""
        return self._slice_sums(self.offsets[:-1], self.offsets[1:]) / self.lengths

    def lowest_means(self, ratio: float) -> np.ndarray:
        """Mean of the k smallest numbers of each row, k = `count` of the ratio; float64 [n]."""
        return self.means_of_lowest(count(ratio, self.lengths))

    def means_of_lowest(self, k: np.ndarray) -> np.ndarray:
        """Mean of the k[i] >= 1 smallest numbers of row i, float64 [n]."""
        starts = self.offsets[:-1]
        return self.ascending._slice_sums(starts, starts + k) / k

    def highest_means(self, ratio: float) -> np.ndarray:
        """Mean of the k largest numbers of each row, k = `count` of the ratio; float64 [n]."""
        return self.means_of_highest(count(ratio, self.lengths))

    def means_of_highest(self, k: np.ndarray) -> np.ndarray:
        """Mean of the k[i] >= 1 largest numbers of row i, float64 [n]."""
        ends = self.offsets[1:]
        return self.ascending._slice_sums(ends - k, ends) / k

    def moving_averages(self, width: int) -> "Ragged":
        """Each row smoothed: the means of all its stretches of `width` numbers in a row.

        A row of n >= width numbers becomes one of n - width + 1; a shorter row stays as it is.
        """
        if not (isinstance(width, int) and width >= 1):
            raise UserError(f"window={width}: a window is a whole number of tokens, 1 or more")
        if width == 1:
            return self
        long = self.lengths >= width
        values = self.values.astype(np.float64)
        smooth = values.copy()
        for shift in range(1, width):
            smooth[:-shift] += values[shift:]
        smooth /= width
        if not long.all():
            short = ~long[self.rows]
            smooth[short] = values[short]
        keep = np.ones(len(values), dtype=bool)
        for back in range(1, width):  # these stretches would reach into the next text
            keep[self.offsets[1:][long] - back] = False
        lengths = np.where(long, self.lengths - width + 1, self.lengths)
        return Ragged(smooth[keep], np.concatenate([[0], np.cumsum(lengths)]))

    def _slice_sums(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        if len(starts) == 0:
            return np.zeros(0)
        if np.any(ends <= starts):
            raise ValueError("a row without numbers has no mean")
        # reduceat sums from each edge to the next: every second sum is one of the slices.
        edges = np.stack([starts, ends], axis=1).ravel()
        if edges[-1] == len(self.values):
            edges = edges[:-1]
        return np.add.reduceat(self.values.astype(np.float64, copy=False), edges)[::2]


@dataclass(frozen=True, eq=False)
class Reading:
    """Token statistics of a batch's texts in another view, or by another model.

    One row per text and variant that has a scored token, so none to many per text: `text` says
    which text of the batch each row belongs to, int64 [rows], ascending. Columns are read as those
    of the batch, ``reading["logprob"]``.
    """

    columns: Mapping[str, Ragged]
    text: np.ndarray

    def __getitem__(self, column: str) -> Ragged:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.text)


@dataclass(frozen=True, eq=False)
class Batch:
    """The texts that an attack scores; every one has at least one scored token.

    `columns` holds what the attack's registry entry names under `columns`, read as
    ``batch["logprob"]``: floats as float64, ranks, ids and offsets as int64. `texts` is there for
    an entry that names the column `text`; the rest for one that names it under `views`,
    `references` or `needs`. Draws come from ``generator(batch.seed, purpose, text_id)``. Compared
    and hashed by identity, so that a function of a batch can be cached.
    """

    text_ids: Sequence[str]
    columns: Mapping[str, Ragged]
    texts: Sequence[str] = ()
    tags: Mapping[str, Ragged] = field(default_factory=dict)  # columns of scripts.contracts.tags
    seed: int = 0
    views: Mapping[str, Reading] = field(default_factory=dict)
    references: Mapping[str, Reading] = field(default_factory=dict)  # by the role of the model
    counts: np.ndarray | None = None  # int64 [vocabulary], of each token in the rows aside
    gradients: Mapping[str, np.ndarray] = field(default_factory=dict)  # norm_1, …, float64 [n]
    targets: Sequence[str] = ()  # the second part of each text, and what was sampled in its place
    samples: Sequence[Sequence[str]] = ()

    def __getitem__(self, column: str) -> Ragged:
        if column not in self.columns:
            raise UserError(f"it reads '{column}': add that to `columns` of its entry")
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.text_ids)


class Scored(NamedTuple):
    """Scores of an attack that has a rule for texts which give it nothing to go by."""

    scores: np.ndarray  # float64 [n]
    fallback: np.ndarray  # bool [n], the texts that the rule decided; they are counted


def run_starts(groups: np.ndarray) -> np.ndarray:
    """Where the runs of equal numbers in `groups` start."""
    return np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)])


def run_means(values: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each run of equal `groups`, and where the runs start."""
    starts = run_starts(groups)
    if len(starts) == 0:
        return np.zeros(0), starts
    counts = np.diff(np.append(starts, len(values)))
    return np.add.reduceat(values, starts) / counts, starts


def means_or_loss(batch: Batch, values: np.ndarray, text: np.ndarray) -> Scored:
    """Mean of the log-probs `values` of each text; a text that has none takes its Loss.

    `text` is the number of the text of each value, ascending.
    """
    means, starts = run_means(values, text)
    scores = np.empty(len(batch))
    fallback = np.ones(len(batch), dtype=bool)
    scores[text[starts]] = means
    fallback[text[starts]] = False
    if fallback.any():
        scores[fallback] = batch["logprob"].means()[fallback]
    return Scored(scores, fallback)


def count(ratio: float, lengths: np.ndarray) -> np.ndarray:
    """k = max(1, floor(ratio * n)) for each length n, int64.

    The ratio is the decimal that was written, not its binary neighbour: 0.29 * 100 is
    28.999999999999996 in floating point, and its floor 28.
    """
    share = _share(ratio)
    return np.maximum(1, lengths * share.numerator // share.denominator)


def released_count(ratio: float, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """k = int(ratio * n) in floating point, as released codes have it, and where that is 0.

    There they take the mean of nothing (NaN). Here such a text counts all its tokens, k = n.
    """
    k = (float(_share(ratio)) * lengths).astype(np.int64)
    return np.where(k == 0, lengths, k), k == 0


def choose(**given: tuple[str, tuple[str, ...]]) -> None:
    """UserError where a parameter, given as ``name=(value, valid values)``, is none of these."""
    for name, (value, valid) in given.items():
        if value not in valid:
            raise UserError(f"{name}={value}: valid are {', '.join(valid)}")


def _share(ratio: float) -> Fraction:
    share = Fraction(str(ratio))
    if not 0 < share <= 1:
        raise UserError(f"ratio={ratio}: a ratio lies above 0 and is at most 1")
    return share
