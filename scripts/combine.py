"""Ensembles: scores of several attacks and labels in, out-of-fold scores of a classifier out.

Tag&Tab, Table 5. No text is scored by a classifier that learned its label or another text of its
group; texts without a label are scored by one that learned all others. The classifier learned on
labels of the same source, which an attacker may not have.

The footer holds `learned_on` and `permutation_p`, found by learning again from permuted labels
(groups, where they are nested in a class): the interval of an out-of-fold AUC is too short.
"""

import importlib
import sys

import numpy as np
import pyarrow as pa

from scripts.baselines.learning import Baseline, from_folds
from scripts.cli import arguments, run
from scripts.contracts.scores import SCORES, UNSCORED
from scripts.contracts.table import provenance
from scripts.learners.features import Scored, read_scored
from scripts.seeds import derive


def combine(texts: Scored, settings: dict) -> tuple[np.ndarray, dict]:
    """Scores of all `texts`, float64, and what the footer says of them.

    `settings`: dataset, ensemble, classifier (a module of scripts/learners/), permutations, seed.
    A text without a score by any attack keeps the stated value for that.
    """
    name, dataset = settings["ensemble"], settings["dataset"]
    learner = importlib.import_module(f"scripts.learners.{settings['classifier']}")
    state = derive(settings["seed"], "ensemble", name, dataset) % 2**32
    ensemble = Baseline({name: learner.pipeline(state)}, settings["seed"], dataset)
    known, unknown = texts.known, texts.scored & (texts.labels < 0)
    rows = texts.rows(known)
    judged, found = from_folds(ensemble, rows, texts.matrix[unknown], settings["permutations"])
    scores = np.full(len(texts.labels), UNSCORED)
    scores[np.concatenate([np.flatnonzero(known), np.flatnonzero(unknown)])] = judged[name]
    nonmembers, members = np.bincount(rows.labels, minlength=2).tolist()
    return scores, {**found, "learned_from": {"members": members, "nonmembers": nonmembers}}


def main() -> None:
    """Combine the scores of one dataset under one model."""
    args = arguments(__doc__, ["texts", "ensemble"], ["scores"])
    settings = args.settings
    texts = read_scored(args.texts, args.scores, settings["settings"])
    scores, found = combine(texts, settings)
    print(f"learned from {found['learned_from']}", file=sys.stderr)
    origin = provenance(args.scores[0])
    SCORES.write(
        args.ensemble,
        pa.table({"text_id": texts.ids, settings["ensemble"]: scores}),
        {**settings, **found, "tokens": origin.get("tokens", {})},
    )


if __name__ == "__main__":
    run(main)
