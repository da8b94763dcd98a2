"""AUCs and differences of AUCs under the null hypothesis, by permutation."""

import numpy as np

from scripts.evaluation.delong import influences
from scripts.evaluation.sample import Sample

BLOCK = 2**20  # permuted labels held at a time


def null_aucs(
    scores: np.ndarray, sample: Sample, permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """AUCs [S, permutations] of `scores` [S, n] after permuting labels, the same for all scores.

    Groups keep their label where each has one class: labels of whole groups are permuted, and the
    number of members then varies with the groups' sizes. Otherwise labels of texts are, which is
    what a random split of the texts makes exchangeable.
    """
    texts = np.arange(len(sample.labels))
    units = sample.groups if sample.grouping == "nested" else texts
    unit_labels = np.zeros(units.max() + 1)
    unit_labels[units] = sample.labels
    sizes = np.bincount(units)
    sums = np.array([np.bincount(units, _doubled_ranks(row)) for row in scores])
    # All sums are integers; float32 holds them up to 2 ** 24 and multiplies twice as fast.
    exact = np.float32 if sums.sum(1).max() < 2**24 else np.float64
    factors = np.vstack([sizes, sums]).T.astype(exact)
    nulls = np.empty((len(scores), permutations))
    block = max(1, BLOCK // len(sizes))
    for start in range(0, permutations, block):
        count = min(block, permutations - start)
        drawn = rng.permuted(np.tile(unit_labels.astype(exact), (count, 1)), axis=1)
        members, *ranks = (drawn @ factors).astype(np.float64).T
        pairs = members * (len(texts) - members)
        nulls[:, start : start + count] = (ranks - members * (members + 1)) / (2 * pairs)
    return nulls


def null_differences(
    scores: np.ndarray,
    reference: np.ndarray,
    sample: Sample,
    permutations: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Differences of AUCs [S, permutations], each of `scores` [S, n] less `reference` [n], if none.

    Were two attacks equally good, each group's centred contribution to their difference could
    as well have the other sign; signs are drawn by group, the same for all scores.
    """
    _, members, nonmembers = influences(np.vstack([reference, scores]), sample)
    added = members + nonmembers
    signs = rng.choice([-1.0, 1.0], size=(sample.group_count, permutations))
    return (added[1:] - added[0]) @ signs


def p_value(observed: float, nulls: np.ndarray) -> float:
    """One-sided p-value of `observed` among `nulls` [permutations]; never 0."""
    return float((1 + (nulls >= observed).sum()) / (1 + len(nulls)))


def _doubled_ranks(scores: np.ndarray) -> np.ndarray:
    """Twice the mid-ranks, 2 to 2 n: integers."""
    ordered = np.sort(scores)
    return np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right") + 1
