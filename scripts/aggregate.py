"""Scores of texts in; AUC, intervals and differences over whole groups (books, papers) out.

The score of a group is the mean over its texts that have one. Where a group holds members and
non-members (windows of one speech), it is two: its members and its non-members, which stay together
in the standard errors.
"""

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.metrics import METRICS
from scripts.contracts.scores import UNSCORED
from scripts.contracts.table import provenance
from scripts.evaluation.differences import add_over_loss
from scripts.evaluation.inputs import read_sample, read_scores, setting_names
from scripts.evaluation.sample import Sample, make_sample
from scripts.evaluation.summary import summarise


def group_means(scores: np.ndarray, sample: Sample, dataset: str) -> tuple[np.ndarray, Sample]:
    """Mean scores [S, units] of `scores` [S, n], and the sample of units: groups by class."""
    keys = 2 * sample.groups + sample.labels
    found, units = np.unique(keys, return_inverse=True)
    means = np.full((len(scores), len(found)), UNSCORED)
    for row, mean in zip(scores, means, strict=True):
        scored = row != UNSCORED
        counts = np.bincount(units[scored], minlength=len(found))
        sums = np.bincount(units[scored], row[scored], len(found))
        mean[counts > 0] = sums[counts > 0] / counts[counts > 0]
    return means, make_sample(found % 2 == 1, found // 2, dataset)


def main() -> None:
    """Evaluate one attack on the groups of one dataset under one model."""
    args = arguments(__doc__, ["texts", "scores", "loss", "groups"])
    settings = args.settings
    dataset, names = settings["dataset"], settings["settings"]
    ids, texts = read_sample(args.texts, dataset)
    scores, sample = group_means(read_scores(args.scores, ids, names), texts, dataset)
    rows = summarise(dataset, scores, sample, settings["bootstrap"], settings["seed"])
    for row, name, unscored in zip(rows, names, (scores == UNSCORED).sum(1), strict=True):
        row |= {"model": settings["model"], "attack": settings["attack"]}
        row |= {"setting": name, "unscored": int(unscored)}
    loss_name = setting_names(args.loss)[0]
    [loss], _ = group_means(read_scores(args.loss, ids, [loss_name]), texts, dataset)
    add_over_loss(rows, scores, loss, sample, loss_name if args.scores == args.loss else None)
    METRICS.write(
        args.groups,
        pa.Table.from_pylist(rows, METRICS.required),
        {**settings, "unit": "group", "scores": provenance(args.scores)},
    )


if __name__ == "__main__":
    run(main)
