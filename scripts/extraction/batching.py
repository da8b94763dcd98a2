"""Which items go through the model together: sorted by length, little padding, fixed parts."""

from dataclasses import dataclass

import numpy as np

SIMILAR = 0.93  # close a batch where the next item is shorter than this share of the longest


@dataclass(frozen=True)
class Part:
    """Batches that are read one after the other and kept together; all behind one prefix."""

    prefix: int
    batches: list[np.ndarray]  # items of each

    @property
    def items(self) -> np.ndarray:
        """Items in the order in which they are read."""
        return np.concatenate(self.batches)


@dataclass(frozen=True)
class Budget:
    """Sizes in tokens: of a batch with its padding, of one that may close early, of a part."""

    batch: int
    early: int
    part: int


def plan_batches(lengths: np.ndarray, budget: Budget) -> list[np.ndarray]:
    """Indices of the items of each batch, longest first so that a lack of memory shows at once.

    A batch holds at most `budget.batch` tokens with padding (or one item). It closes early once
    it holds `budget.early` tokens and the next item would be padding for more than 7 %: sorted
    mixes of lengths then waste 1 to 4 %.
    """
    order = np.argsort(-lengths, kind="stable")
    batches, begin, longest = [], 0, 0
    for end, length in enumerate(lengths[order].tolist()):
        size = (end - begin) * longest
        full = (end - begin + 1) * longest > budget.batch
        unlike = size >= budget.early and length < SIMILAR * longest
        if end > begin and (full or unlike):
            batches.append(order[begin:end])
            begin = end
        if end == begin:
            longest = max(length, 1)
    return [*batches, order[begin:]] if len(order) else []


def plan_parts(
    batches: list[np.ndarray], scored: np.ndarray, budget: Budget, prefix: int = 0
) -> list[Part]:
    """Group batches into parts of at least `budget.part` scored tokens: what a kill can lose.

    Parts depend on the texts and the budget alone, so a resumed run has the same ones.
    """
    parts, part, tokens = [], [], 0
    for batch in batches:
        part.append(batch)
        tokens += int(scored[batch].sum())
        if tokens >= budget.part:
            parts.append(Part(prefix, part))
            part, tokens = [], 0
    return [*parts, Part(prefix, part)] if part else parts
