"""Scores of a dataset's blind baselines in; how well texts alone tell its classes apart out.

A blind classifier sees texts and labels, but no model. What it can tell, an attack may owe to the
texts and not to the model.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.metrics import GATE
from scripts.contracts.table import provenance
from scripts.errors import UserError
from scripts.evaluation.inputs import read_sample, read_scores, setting_names
from scripts.evaluation.permutation import null_aucs, p_value
from scripts.evaluation.sample import Sample
from scripts.evaluation.student import quantile
from scripts.evaluation.summary import summarise
from scripts.seeds import generator

PERMUTATIONS = 10_000
ALPHA = 0.05
POWER = 0.8
SELECTIONS = {"inner": "inner_auc", "test": "auc"}


def main() -> None:
    """Judge every classifier of every baseline of one dataset; one of them is the gate.

    `selection` says by what the best classifier of a baseline, and the best of all, is chosen: by
    "inner" cross-validation on what it learned from, or on the "test" AUC, which is optimistic
    and there to reproduce CheckMIABench.
    """
    args = arguments(__doc__, ["texts", "gate"], ["blind"])
    settings = args.settings
    dataset, seed = settings["dataset"], settings["seed"]
    ids, sample = read_sample(args.texts, dataset)
    rows, scores = _classifiers(args.blind, ids)
    summary = summarise(dataset, scores, sample, settings["bootstrap"], seed)
    nulls = null_aucs(scores, sample, PERMUTATIONS, generator(seed, "permutation", dataset))
    for row, evaluated, null in zip(rows, summary, nulls, strict=True):
        row |= evaluated | {"smallest_visible_auc": _smallest_visible(null, sample)}
        if row["learned_on"] == "aside":
            row["p_permutation"] = p_value(row["auc"], null)
    select(rows, settings["selection"])

    GATE.write(
        args.gate,
        pa.Table.from_pylist(rows, GATE.required),
        {**settings, "blind": {path.stem: provenance(path) for path in args.blind}},
    )


def select(rows: list[dict], selection: str) -> None:
    """Mark the chosen row of each baseline and the best of all, the first where several are equal.

    The best row alone may declare a shift: the dataset has one where that row's one-sided
    permutation p-value (AUC > 0.5) is below 0.05. It is one test per dataset, so nothing is left
    to correct for the number of baselines as long as the selection is "inner". Raises UserError
    where that row has no p-value.
    """
    column = SELECTIONS[selection]
    chosen: dict[str, dict] = {}
    for row in rows:
        if row["baseline"] not in chosen or row[column] > chosen[row["baseline"]][column]:
            chosen[row["baseline"]] = row
    best = max(chosen.values(), key=lambda row: row[column])
    if best["p_permutation"] is None:
        raise UserError(
            f"dataset {best['dataset']}: blind_selection {selection} chose {best['classifier']} of "
            f"{best['baseline']}, which learned out of fold and has no p-value, because labels are "
            "permuted for the best by inner cross-validation only; set blind_selection: inner"
        )
    for row in rows:
        row["selection"] = selection
        row["chosen"] = row is chosen[row["baseline"]]
        row["best"] = row is best
        row["shift"] = row is best and row["p_permutation"] < ALPHA


def _classifiers(
    paths: list[Path], ids: pa.ChunkedArray
) -> tuple[list[dict[str, object]], np.ndarray]:
    """A row per classifier of each baseline's file, and their scores [rows, n].

    `p_permutation` is what the blind step found by learning again from permuted labels, which it
    does for one out-of-fold classifier of a baseline; None for the others.
    """
    rows, scores = [], []
    for path in paths:
        source = provenance(path)
        classifiers = setting_names(path)
        refitted = source.get("permutation_p", {})
        rows += [
            {
                "baseline": path.stem,
                "classifier": name,
                "learned_on": source["learned_on"],
                "inner_auc": source["inner_auc"][name],
                "p_permutation": refitted.get(name),
            }
            for name in classifiers
        ]
        scores.append(read_scores(path, ids, classifiers))
    return rows, np.vstack(scores)


def _smallest_visible(null: np.ndarray, sample: Sample) -> float:
    """The AUC that a one-sided test at 5 % finds with 80 % power.

    Its standard error is that of the permuted labels: for an out-of-fold classifier, which would
    have learned from them, the true one is somewhat larger.
    """
    error = np.sqrt(((null - 0.5) ** 2).mean())
    reach = quantile(sample.degrees, 1 - ALPHA) + quantile(sample.degrees, POWER)
    return float(min(1, 0.5 + reach * error))


if __name__ == "__main__":
    run(main)
