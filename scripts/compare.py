"""Settings of attacks against each other on the same texts: paired differences of AUC, tested.

The standard error of a difference is cluster DeLong's. p-values are adjusted over all pairs of the
declared family: by Holm, or by max-T over joint sign flips (10,000), which pays less for settings
that say nearly the same.
"""

from itertools import combinations

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.comparison import COMPARISON
from scripts.contracts.table import provenance
from scripts.evaluation.delong import LEVEL, auc_errors, p_value, paired
from scripts.evaluation.inputs import read_sample, read_scores, setting_names
from scripts.evaluation.multiplicity import holm, max_t
from scripts.evaluation.permutation import null_differences
from scripts.evaluation.sample import Sample
from scripts.evaluation.student import quantile
from scripts.seeds import generator

FLIPS = 10_000


def compare(
    scores: np.ndarray,
    sample: Sample,
    pairs: list[tuple[int, int]],
    correction: str,
    rng: np.random.Generator,
) -> list[dict[str, object]]:
    """Differences of `pairs` of rows of `scores` [S, n]: contract COMPARISON, without names."""
    aucs = auc_errors(scores, sample)[0].tolist()
    rows = []
    for one, other in pairs:
        [difference], [error] = (v.tolist() for v in paired(scores[[one]], scores[other], sample))
        reach = quantile(sample.degrees, (1 + LEVEL) / 2) * error
        rows.append(
            {
                "auc": aucs[one],
                "auc_against": aucs[other],
                "difference": difference,
                "difference_se": error,
                "difference_low": difference - reach,
                "difference_high": difference + reach,
                "p": p_value(difference, error, sample),
                "correction": correction,
            }
        )
    if correction == "holm":
        adjusted = holm(np.array([row["p"] for row in rows]))
    else:
        # Of each setting less the first, with the same signs: a pair's is the difference of two.
        nulls = null_differences(scores, scores[0], sample, FLIPS, rng)
        of_pairs = np.array([nulls[one] - nulls[other] for one, other in pairs])
        adjusted = max_t(np.array([row["difference"] for row in rows]), of_pairs)
    for row, p in zip(rows, adjusted.tolist(), strict=True):
        row["p_adjusted"] = p
    return rows


def main() -> None:
    """Compare the settings of one comparison on one dataset under one model."""
    args = arguments(__doc__, ["texts", "comparison"], ["scores"])
    settings = args.settings
    names, reference = settings["settings"], settings["reference"]
    ids, sample = read_sample(args.texts, settings["dataset"])
    held = {name: path for path in args.scores for name in setting_names(path)}
    scores = np.vstack([read_scores(held[name], ids, [name]) for name in names])
    pairs = list(combinations(range(len(names)), 2))
    if reference:
        against = names.index(reference)
        pairs = [(place, against) for place in range(len(names)) if place != against]
    rng = generator(settings["seed"], "comparison", settings["dataset"])
    rows = compare(scores, sample, pairs, settings["correction"], rng)
    for row, (one, other) in zip(rows, pairs, strict=True):
        row |= {"model": settings["model"], "dataset": settings["dataset"]}
        row |= {"setting": names[one], "against": names[other]}
    COMPARISON.write(
        args.comparison,
        pa.Table.from_pylist(rows, COMPARISON.required),
        {**settings, "scores": [provenance(path) for path in args.scores]},
    )


if __name__ == "__main__":
    run(main)
