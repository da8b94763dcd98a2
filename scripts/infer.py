"""Dataset inference: was a set (label 1) trained on, against a matched one (label 0) that was not?

Maini et al., "LLM Dataset Inference: Did you train on my dataset?" (2024). Scores of several
settings are combined by a linear model that learns on one half of the groups; the other half is
tested one-sided, with as many texts as there are and with fewer. The same is done to random halves
of the label-0 set, where there is nothing to find: the share of p < 0.05 there is the test's own
false-positive rate. Differences from the paper: logistic regression in place of a linear one, no
clipping, and an error that knows which texts belong together.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from scripts.baselines.classifiers import fitted, scores
from scripts.baselines.groups import folds, nested
from scripts.baselines.learning import Rows
from scripts.cli import arguments, run
from scripts.contracts.inference import INFERENCE, SUSPECT
from scripts.contracts.table import provenance
from scripts.errors import UserError
from scripts.evaluation.welch import one_sided
from scripts.learners.features import read_scored
from scripts.learners.logistic_regression import pipeline
from scripts.progress import bar
from scripts.seeds import generator

SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
SPLITS = 200  # of the false-positive run: the SE of a share of 5 % is then 1.5 points


def held_half(
    rows: Rows, rng: np.random.Generator, dataset: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Combined scores, labels (bool) and groups of the half that was not learned from.

    Whole groups in random order, so that the first texts of a class are a random part of it.
    """
    learn, judge = folds(rows.labels, rows.groups, 2, int(rng.integers(2**32)), dataset)[0]
    teachers, tested = rows.take(learn), rows.take(judge)
    combined = scores(fitted(pipeline(0), teachers.matrix, teachers.labels), tested.matrix)
    names, codes = np.unique(tested.groups, return_inverse=True)
    order = np.argsort(rng.permutation(len(names))[codes], kind="stable")
    return combined[order], tested.labels[order] == 1, tested.groups[order]


def suspect_rows(rows: Rows, seed: int, dataset: str) -> Iterator[dict[str, object]]:
    """Tests of the suspect set with more and more texts of each class (contract INFERENCE)."""
    half = held_half(rows, generator(seed, "inference", dataset), dataset)
    labels = half[1]
    most = max(labels.sum(), (~labels).sum())
    for size in [*(size for size in SIZES if size < most), most]:
        kept = np.zeros(len(labels), dtype=bool)
        for label in (True, False):
            kept[np.flatnonzero(labels == label)[:size]] = True
        yield _row(SUSPECT, *(values[kept] for values in half))


def false_positive_rows(rows: Rows, seed: int, dataset: str) -> Iterator[dict[str, object]]:
    """Tests of random halves of the held-out set, one as suspects, over and over.

    Groups are drawn whole where they belong to one class in the data, texts where they do not.
    """
    held_out = rows.take(np.flatnonzero(rows.labels == 0))
    units = held_out.groups if nested(rows.labels, rows.groups) else np.arange(len(held_out.labels))
    names, codes = np.unique(units, return_inverse=True)
    rng = generator(seed, "inference false positives", dataset)
    for split in bar(range(SPLITS), what="Halving the held-out set", unit="split"):
        labels = (rng.permutation(len(names)) % 2)[codes]
        halves = Rows(held_out.matrix, labels, held_out.groups)
        yield _row(split, *held_half(halves, rng, dataset))


def _row(split: int, combined: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> dict:
    found = one_sided(combined, labels, groups)
    counts = {"suspects": int(labels.sum()), "held_out": int((~labels).sum())}
    if found is None:
        return {"split": split, **counts}
    return {
        "split": split,
        **counts,
        "difference": found.difference,
        "se": found.error,
        "degrees": found.degrees,
        "p": found.p,
    }


def main() -> None:
    """Test one dataset under one model."""
    args = arguments(__doc__, ["texts", "inference"], ["scores"])
    settings = args.settings
    dataset, seed = settings["dataset"], settings["seed"]
    texts = read_scored(args.texts, args.scores, settings["settings"])
    rows = texts.rows(texts.known)
    for label, name in ((1, "suspects"), (0, "held-out texts")):
        groups = len(np.unique(rows.groups[rows.labels == label]))
        if groups < 8:
            raise UserError(
                f"dataset {dataset}: {groups} groups of {name} (label {label}); dataset inference "
                "learns on one half and tests the other, and needs eight or more of each"
            )
    found = [*suspect_rows(rows, seed, dataset), *false_positive_rows(rows, seed, dataset)]
    INFERENCE.write(
        args.inference,
        pa.Table.from_pylist(found, INFERENCE.required),
        {**settings, "scores": [provenance(path) for path in args.scores]},
    )


if __name__ == "__main__":
    run(main)
