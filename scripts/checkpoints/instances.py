"""Rows that are instances of tokenised files, in the order of a permutation: the first OLMo.

Each file (uint16, no header) is cut into instances, the rest dropped; instances are numbered over
all files in the order of the training's config. Position p reads instance ``order[p]``; the order
is the raw uint32 file that the training wrote, or rebuilt: numpy's PCG64 shuffle with its seed.
Source: OLMo, ``olmo/data/iterable_dataset.py`` and ``memmap_dataset.py``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scripts.checkpoints.files import Files, Open, numbers
from scripts.checkpoints.rows import Batched, Row, tokens, within
from scripts.errors import UserError
from scripts.hub.spans import Span


class Rows(Batched):
    """See scripts.checkpoints.rows.Rows."""

    def __init__(self, family: dict, hub: Open, order: Path | None = None):
        entry = family["rows"]
        self._files, sizes = listed(entry, hub)
        self._names = list(sizes)
        self._bytes = 2 * family["row"]
        self._ends = np.cumsum([size // self._bytes for size in sizes.values()])
        self._valid = within(family["vocabulary"])
        self._order, total = self._open_order(entry, hub, order)
        super().__init__(family["batch"], total)
        # The training dropped at most what does not fill a batch.
        if not total <= self._ends[-1] < total + self.batch:
            raise UserError(
                f"{self._files.name}: its {len(sizes)} files hold {self._ends[-1]} instances, but "
                f"the order has {total}: with a file missing or cut, each number behind it would "
                "stand for another text; complete the files, or leave this family out"
            )

    def read(self, positions: Sequence[int]) -> list[Row]:
        """The rows at these positions."""
        instances = self._order(positions)
        items = [(self._span(int(instance)),) for instance in instances]
        found = self._files.read(items, self._valid)
        return [Row(p, tokens(content)) for p, content in zip(positions, found, strict=True)]

    def _span(self, instance: int) -> Span:
        at = int(np.searchsorted(self._ends, instance, side="right"))
        place = instance - (int(self._ends[at - 1]) if at else 0)
        return Span(self._names[at], place * self._bytes, (place + 1) * self._bytes)

    def _open_order(self, entry: dict, hub: Open, rebuilt: Path | None):
        if rebuilt is not None:
            order = np.load(rebuilt, mmap_mode="r")
            return (lambda positions: order[np.asarray(positions)]), len(order)
        source, sizes = listed(entry["order"], hub)
        ((file, size),) = sizes.items()

        def read(positions: Sequence[int]) -> np.ndarray:
            spans = [Span(file, 4 * p, 4 * p + 4) for p in positions]
            return np.concatenate(numbers(source, spans, "<u4", "order"))

        return read, size // 4


def listed(entry: dict, hub: Open) -> tuple[Files, dict[str, int]]:
    """The place of an entry's `files` (a `repo` or a `url`), and their sizes by name.

    With `counts`, a digit per part says how many files it has, and `files` is formatted with the
    part and the number of each.
    """
    place = hub(entry["repo"] if "repo" in entry else entry["url"])
    names = [entry["files"]]
    if "counts" in entry:
        names = [
            entry["files"].format(part=part, number=number)
            for part, count in enumerate(entry["counts"])
            for number in range(int(count))
        ]
    return place, place.sizes(*names)


def permutation(total: int, seed: int) -> np.ndarray:
    """Which instance each position reads, uint32 [total]; OLMo's order of its first epoch."""
    order = np.arange(total, dtype=np.uint32)
    np.random.Generator(np.random.PCG64(seed)).shuffle(order)
    return order
