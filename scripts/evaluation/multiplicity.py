"""p-values corrected for the number of tests in a declared family."""

import numpy as np


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values [m], in the order of `p` [m] (Scand. J. Statist. 6, 1979).

    The i-th smallest (from 0) is multiplied by m - i; none falls below a smaller one's.
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(
        1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1))
    )
    return adjusted


def max_t(observed: np.ndarray, nulls: np.ndarray) -> np.ndarray:
    """Step-down max-T adjusted two-sided p-values [m] (Westfall and Young, 1993, algorithm 4.1).

    `observed` [m] are statistics that are 0 without an effect, `nulls` [m, permutations] the same
    under joint permutations, so that correlated tests cost less than Holm makes them. Each is
    divided by its root mean square under the null; one that never varies there has p = 1.
    """
    scale = np.sqrt((nulls**2).mean(1))
    scale[scale == 0] = np.inf
    sizes = np.abs(observed) / scale
    order = np.argsort(-sizes, kind="stable")
    null_sizes = np.abs(nulls[order]) / scale[order, None]
    largest = np.maximum.accumulate(null_sizes[::-1])[::-1]  # over this test and weaker ones
    exceed = (largest >= sizes[order, None]).sum(1)
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate((1 + exceed) / (1 + nulls.shape[1]))
    return adjusted
