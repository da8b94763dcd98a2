"""AUC and the ROC curve of one attack. Ties count half; nothing is interpolated or flipped."""

import numpy as np


def doubled_wins(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twice the pairs that each text wins, a tie counting as half a win: integers, so exact.

    `scores` is float [n], `labels` bool [n]. The first array has an entry per member (the
    non-members below it), the second per non-member (the members above it). Mid-ranks by class.
    """
    members, nonmembers = scores[labels], scores[~labels]
    ordered = np.sort(nonmembers)
    below = np.searchsorted(ordered, members, "left") + np.searchsorted(ordered, members, "right")
    ordered = np.sort(members)
    above = (
        2 * len(members)
        - np.searchsorted(ordered, nonmembers, "left")
        - np.searchsorted(ordered, nonmembers, "right")
    )
    return below, above


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The probability that a member scores above a non-member, ties counting half."""
    below, above = doubled_wins(scores, labels)
    return float(below.sum() / (2 * len(below) * len(above)))


def roc_curve(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """FPR, TPR and threshold (score >= threshold) at each distinct score, from (0, 0) upwards.

    The same as scikit-learn's ``roc_curve(labels, scores, drop_intermediate=False)``.
    """
    order = np.argsort(-scores, kind="stable")
    scores, labels = scores[order], labels[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # last text of each score
    true = np.append(0, np.cumsum(labels)[last])
    false = np.append(0, np.cumsum(~labels)[last])
    return false / false[-1], true / true[-1], np.append(np.inf, scores[last])


def tpr_at_fpr(scores: np.ndarray, labels: np.ndarray, limit: float) -> tuple[float, float]:
    """The largest TPR over thresholds whose FPR <= `limit`, and the realised FPR.

    Where several thresholds reach that TPR, the realised FPR is the smallest of theirs.
    """
    fpr, tpr, _ = roc_curve(scores, labels)
    best = tpr[fpr <= limit].max()
    return float(best), float(fpr[tpr == best].min())


def false_positives_allowed(limit: float, nonmembers: np.ndarray) -> np.ndarray:
    """The most false positives k with k / nonmembers <= limit in floating point, elementwise.

    The product limit * nonmembers alone may fall on the wrong side of an integer.
    """
    allowed = np.floor(limit * nonmembers) + 1
    for _ in range(2):
        allowed -= allowed / nonmembers > limit
    return allowed


def tpr_display(nonmembers: int, limit: float) -> str:
    """How a table shows a TPR at FPR `limit`: "blank", "grey" (with its interval) or "full".

    Blank where fewer than 5 false positives are expected, grey from 5 to below 10: with so few
    the threshold itself is mostly chance.
    """
    expected = round(nonmembers * limit, 9)  # 0.01 * 700 is 7.000000000000001
    if expected < 5:
        return "blank"
    return "grey" if expected < 10 else "full"
