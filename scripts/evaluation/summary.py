"""What metrics and gates say about any score: AUC, TPR at FPR and how sure both are."""

import numpy as np

from scripts.contracts.metrics import FPRS
from scripts.evaluation.bootstrap import replicates
from scripts.evaluation.delong import LEVEL, auc_errors, interval, p_value
from scripts.evaluation.roc import tpr_at_fpr
from scripts.evaluation.sample import Sample
from scripts.seeds import generator


def summarise(
    dataset: str, scores: np.ndarray, sample: Sample, resamples: int, seed: int
) -> list[dict[str, object]]:
    """The columns that METRICS and GATE share, a row per score of `scores` [S, n].

    The bootstrap's resamples depend on the seed and the dataset alone: all attacks share them.
    """
    aucs, errors = auc_errors(scores, sample)
    rng = generator(seed, "bootstrap", dataset)
    boot_aucs, boot_tprs = replicates(scores, sample, FPRS, resamples, rng)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    rows = []
    for index, (auc, error) in enumerate(zip(aucs.tolist(), errors.tolist(), strict=True)):
        low, high = interval(auc, error, sample)
        row = {
            "dataset": dataset,
            "members": sample.members,
            "nonmembers": sample.nonmembers,
            "member_groups": sample.member_groups,
            "nonmember_groups": sample.nonmember_groups,
            "grouping": sample.grouping,
            "auc": auc,
            "auc_se": error,
            "auc_low": low,
            "auc_high": high,
            "auc_se_bootstrap": float(boot_aucs[index].std(ddof=1)),
            "z": _z(auc - 0.5, error),
            "p": p_value(auc - 0.5, error, sample),
        }
        for limit, boot in zip(FPRS, boot_tprs[index], strict=True):
            tpr, fpr = tpr_at_fpr(scores[index], sample.labels, limit)
            low, high = np.quantile(boot, ends)
            row |= {
                f"tpr_at_{limit:g}": tpr,
                f"tpr_at_{limit:g}_low": float(low),
                f"tpr_at_{limit:g}_high": float(high),
                f"fpr_at_{limit:g}": fpr,
            }
        rows.append(row)
    return rows


def _z(difference: float, error: float) -> float:
    """`difference` in standard errors; infinite where nothing overlaps, 0 for no difference."""
    if error == 0:
        return float(np.sign(difference) * np.inf) if difference else 0.0
    return difference / error
