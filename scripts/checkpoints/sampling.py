"""Which positions of a training order are members and non-members of a checkpoint.

`sequence`   CheckMIABench's: members are rows of the steps before the checkpoint, non-members rows
             of the steps behind it, up to the last one that can be trusted. With `window` only so
             many steps on either side, so that both are of about the same age; with `gap` the steps
             next to the checkpoint are left out.
`held_out`   Non-members are rows of the same shuffle that the training never came to.

Two readings of CheckMIABench's split: `paper`, rows drawn uniformly over all these steps, and
`released`, what its code draws from: windows of steps around each multiple of 500.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scripts.checkpoints.rows import Rows

Range = tuple[int, int]  # positions from, to (without it)

_SMALL = 1 << 20  # so many positions are permuted as a whole
_DRAWN = 1 << 10  # numbers drawn at once

# scripts/data_generation/load_pile_data.sh of pandora_llm: steps [X - 25, X - 10] and
# [X + 10, X + 25] for X = 500, 1000, …; its reader gave the rows of all steps but the last one, and
# one row of that.
_EVERY, _NEAR, _FAR = 500, 10, 25


def ranges(settings: Mapping, family: Mapping, rows: Rows) -> tuple[list[Range], list[Range]]:
    """Positions of members and of non-members; `settings` is the dataset's entry, complete."""
    step, gap = settings["step"], settings["gap"]
    window = settings.get("window")
    first = 0 if window is None else max(0, step - gap - window)
    members = [(rows.start(first), rows.start(step - gap))]
    if settings["policy"] == "held_out":
        return members, [(rows.start(family["steps"]), rows.total)]
    if settings["reading"] == "released":
        return _released(settings, rows)
    last = settings["until"] if window is None else min(settings["until"], step + gap + window)
    return members, [(rows.start(step + gap), rows.start(last))]


def _released(settings: Mapping, rows: Rows) -> tuple[list[Range], list[Range]]:
    """The windows that CheckMIABench's released code reads, before and behind the checkpoint."""
    members, nonmembers = [], []
    for middle in range(_EVERY, settings["until"] + 1, _EVERY):
        for first, last in ((middle - _FAR, middle - _NEAR), (middle + _NEAR, middle + _FAR)):
            found = (rows.start(first), rows.start(last) + 1)
            if last <= settings["step"]:
                members.append(found)
            elif first >= settings["step"] and last <= settings["until"]:
                nonmembers.append(found)
    return members, nonmembers


def draw(rng: np.random.Generator, population: Sequence[Range], run: int = 1) -> Iterator[int]:
    """Positions of `population`, uniform and without repetition, until there are none left.

    They come in runs of `run` neighbours. A longer draw begins with the shorter one, so that one
    more row costs one more row.
    """
    starts = np.array([first for first, _ in population], dtype=np.int64)
    runs = np.array([max(0, last - first) // run for first, last in population], dtype=np.int64)
    ends = np.cumsum(runs)
    for number in _numbers(rng, int(ends[-1]) if len(ends) else 0):
        at = int(np.searchsorted(ends, number, side="right"))
        position = int(starts[at]) + (number - int(ends[at] - runs[at])) * run
        yield from range(position, position + run)


def _numbers(rng: np.random.Generator, total: int) -> Iterator[int]:
    """All numbers below `total` in random order."""
    if total <= _SMALL:
        yield from rng.permutation(total).tolist()
        return
    seen: set[int] = set()
    while True:
        for number in rng.integers(0, total, size=_DRAWN).tolist():
            if number not in seen:
                seen.add(number)
                yield number
