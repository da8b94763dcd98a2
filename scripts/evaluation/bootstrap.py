"""The stratified, grouped bootstrap of AUC and TPR at FPR, by counts instead of copies.

A resample is the number of times that it draws each text. Each count, sum of counts and product of
sums is an integer that the float type holds exactly, so a replicate equals scikit-learn's value on
the expanded resample. The resamples are made once and serve all scores: differences are paired.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from scripts.evaluation.roc import false_positives_allowed
from scripts.evaluation.sample import Sample

BLOCK = 2**22  # counts held at a time


def replicates(
    scores: np.ndarray,
    sample: Sample,
    limits: Sequence[float],
    resamples: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """AUC [S, resamples] and TPR at each FPR limit [S, limits, resamples] of `scores` [S, n].

    A TPR is the largest over thresholds with FPR <= limit < 1, on the resample.
    """
    aucs = np.empty((len(scores), resamples))
    tprs = np.empty((len(scores), len(limits), resamples))
    start = 0
    for members, nonmembers in draws(sample, resamples, rng):
        part = slice(start, start + members.shape[1])
        start = part.stop
        totals = members.sum(0), nonmembers.sum(0)
        exact = np.float32 if 2 * totals[0].max() * totals[1].max() < 2**24 else np.float64
        members, nonmembers = members.astype(exact), nonmembers.astype(exact)
        for index, row in enumerate(scores):
            aucs[index, part], tprs[index, :, part] = _replicate(
                row[sample.labels], row[~sample.labels], members, nonmembers, totals, limits
            )
    return aucs, tprs


def draws(
    sample: Sample, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of resamples: times drawn, int [members, block] and int [non-members, block].

    Groups of one class are drawn within their class, all groups whole where some span both. A
    resample of whole groups that misses a class is drawn again.
    """
    size = max(1, BLOCK // len(sample.labels))
    for start in range(0, resamples, size):
        yield _draw(sample, min(size, resamples - start), rng)


def _draw(sample: Sample, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels, groups = sample.labels, sample.groups
    if sample.grouping != "crossed":
        return _texts_drawn(groups[labels], size, rng), _texts_drawn(groups[~labels], size, rng)
    times = _texts_drawn(groups, size, rng)
    members, nonmembers = times[labels], times[~labels]
    void = ~(members.any(0) & nonmembers.any(0))
    if void.any():
        members[:, void], nonmembers[:, void] = _draw(sample, int(void.sum()), rng)
    return members, nonmembers


def _texts_drawn(groups: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Times that each text is drawn when its groups are: int [texts, size]."""
    names, codes = np.unique(groups, return_inverse=True)
    drawn = rng.integers(0, len(names), size=(len(names), size))
    cells = drawn * size + np.arange(size)
    return np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)[codes]


def _replicate(
    member_scores: np.ndarray,
    nonmember_scores: np.ndarray,
    members: np.ndarray,
    nonmembers: np.ndarray,
    totals: tuple[np.ndarray, np.ndarray],
    limits: Sequence[float],
) -> tuple[np.ndarray, np.ndarray]:
    """AUC [block] and TPR [limits, block] of one attack; `members`, `nonmembers` are counts."""
    order = np.argsort(-nonmember_scores, kind="stable")
    top = -nonmember_scores[order]  # ascending, as searchsorted needs
    false = _cumulated(nonmembers, order)  # row i: false positives among the i highest
    above = [np.searchsorted(top, -member_scores, side) for side in ("left", "right")]
    losses = np.einsum("ir,ir->r", members, false[above[0]])
    # Ties lose half; without any, both terms are equal and one is not computed.
    tied = above[0] != above[1]
    losses *= 2
    losses += np.einsum("ir,ir->r", members[tied], false[above[1][tied]] - false[above[0][tied]])
    auc = 1 - losses / (2.0 * totals[0] * totals[1])

    ranked = np.argsort(-member_scores, kind="stable")
    # Members strictly above each non-member: what a threshold just above it catches.
    caught = np.searchsorted(-member_scores[ranked], top, "left")
    cuts = [
        caught[_first_excess(false, false_positives_allowed(limit, totals[1]))] for limit in limits
    ]
    true = _cumulated(members, ranked[: max(cut.max() for cut in cuts)])
    columns = np.arange(members.shape[1])
    return auc, np.array([true[cut, columns] / totals[0] for cut in cuts])


def _cumulated(counts: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Running sums of the rows of `counts` in `order`, from a row of zeros."""
    sums = np.zeros((len(order) + 1, counts.shape[1]), counts.dtype)
    for place, row in enumerate(order):  # 3 x faster than cumsum(axis=0), which is not vectorised
        np.add(sums[place], counts[row], out=sums[place + 1])
    return sums


def _first_excess(false: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The place of the first non-member with which false positives exceed `allowed`: [block]."""
    end = 64 + 2 * int(allowed.max())  # enough, nearly always
    while end < len(false) and (false[end - 1] <= allowed).any():
        end *= 2
    return (false[1:end] <= allowed).sum(0)
