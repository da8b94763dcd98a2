"""Groups of texts: folds that keep them whole, permutations that move them whole."""

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from scripts.errors import UserError


def nested(labels: np.ndarray, groups: np.ndarray) -> bool:
    """Whether groups belong to one class, as books do; not where labels were drawn within them.

    Decided by most of the groups with several texts; True where each text is its own group.
    """
    _, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    members = np.bincount(index, weights=labels)
    pure = (members == 0) | (members == sizes)
    several = sizes > 1
    return bool(pure[several].mean() > 0.5) if several.any() else True


def folds(
    labels: np.ndarray, groups: np.ndarray, count: int, seed: int, dataset: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """At most `count` folds: (rows to learn on, rows to judge), no group in two of them.

    Fewer where a class has fewer groups. UserError where a class has only one: nothing can then be
    learned about it that is not about this group.
    """
    per_class = [len(np.unique(groups[labels == label])) for label in (0, 1)]
    count = min(count, *per_class)
    if count < 2:
        raise UserError(
            f"dataset {dataset}: a classifier needs texts of two groups in each class; it has "
            f"{per_class[1]} groups of members and {per_class[0]} of non-members"
        )
    if len(np.unique(groups)) == len(groups):
        # The same folds in kind, without a search over thousands of groups.
        splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
        splits = list(splitter.split(labels, labels))
    else:
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
        splits = list(splitter.split(labels, labels, groups))
    if any(np.ptp(labels[learn]) == 0 for learn, _ in splits):
        raise UserError(
            f"dataset {dataset}: one group holds nearly all of a class, so no classifier can learn "
            "without it; cut the texts into more groups, or leave baselines and ensembles out"
        )
    return splits


def permuted(labels: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """`labels` as chance could have given them: moved among groups, if nested, else among rows.

    A nested group's majority label is drawn anew; where it changed, all its labels change sides.
    """
    if not nested(labels, groups):
        return rng.permutation(labels)
    _, index = np.unique(groups, return_inverse=True)
    majority = np.bincount(index, weights=labels - 0.5) > 0
    changed = majority != rng.permutation(majority)
    return np.where(changed[index], 1 - labels, labels)
