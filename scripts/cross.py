"""Learn on the scores of one domain, judge another: the AUC of each pair (Tag&Tab, Figure 4).

Domains are datasets, or the values of the column `domain` of one dataset. Where two share groups
(each with itself, and selections of one pool), the classifier that judges a text never learned from
its group: five folds of both together. Such an AUC is out of fold, and its interval too short.
"""

import importlib
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from scripts.baselines.classifiers import fitted, scores
from scripts.baselines.groups import folds
from scripts.baselines.learning import OUTER, Rows
from scripts.cli import arguments, run
from scripts.contracts.scores import UNSCORED
from scripts.contracts.table import provenance
from scripts.contracts.transfer import TRANSFER
from scripts.errors import UserError
from scripts.evaluation.delong import auc_errors, interval
from scripts.evaluation.sample import make_sample
from scripts.learners.features import Scored, read_scored
from scripts.seeds import derive


def cross(domains: Mapping[str, Rows], unfitted: Pipeline, state: int) -> list[dict[str, object]]:
    """A row per pair of `domains` (contract TRANSFER, but for the model); `state` seeds folds."""
    rows = []
    for learned_on, learn in domains.items():
        for judged_on, judge in domains.items():
            shared = np.isin(learn.groups, judge.groups).any()
            if shared:
                judged, count = _by_folds(learn, judge, unfitted, state, judged_on)
            else:
                judged, count = _scores(learn, judge.matrix, unfitted, learned_on)
            codes = np.unique(judge.groups, return_inverse=True)[1]
            sample = make_sample(judge.labels == 1, codes, judged_on)
            [auc], [error] = (found.tolist() for found in auc_errors(judged[None], sample))
            low, high = interval(auc, error, sample)
            rows.append(
                {
                    "learned_on": learned_on,
                    "judged_on": judged_on,
                    "out_of_fold": bool(shared),
                    "learned_from": count,
                    "members": sample.members,
                    "nonmembers": sample.nonmembers,
                    "auc": auc,
                    "auc_se": error,
                    "auc_low": low,
                    "auc_high": high,
                }
            )
    return rows


def _by_folds(
    learn: Rows, judge: Rows, unfitted: Pipeline, state: int, dataset: str
) -> tuple[np.ndarray, int]:
    """Scores of the rows `judge` by what the rows `learn` of other folds teach, and how many."""
    same = learn is judge
    labels = learn.labels if same else np.concatenate([learn.labels, judge.labels])
    groups = learn.groups if same else np.concatenate([learn.groups, judge.groups])
    start = 0 if same else len(learn.labels)  # of the rows to judge
    judged, most = np.empty(len(judge.labels)), 0
    for others, held in folds(labels, groups, OUTER, state, dataset):
        teachers = learn.take(others[others < len(learn.labels)])
        here = held[held >= start] - start
        judged[here], count = _scores(teachers, judge.matrix[here], unfitted, dataset)
        most = max(most, count)
    return judged, most


def _scores(
    learn: Rows, matrix: np.ndarray, unfitted: Pipeline, dataset: str
) -> tuple[np.ndarray, int]:
    """Scores of `matrix` by a classifier of the scored rows of `learn`, and how many those are."""
    learn = learn.take(np.flatnonzero(_any(learn.matrix)))
    if len(np.unique(learn.labels)) < 2:
        raise UserError(
            f"dataset {dataset}: no members or no non-members are left to learn from once shared "
            "groups are left out; take other datasets, or texts of more groups"
        )
    judged = np.full(len(matrix), UNSCORED)
    has = _any(matrix)
    if has.any():
        judged[has] = scores(fitted(unfitted, learn.matrix, learn.labels), matrix[has])
    return judged, len(learn.labels)


def _any(matrix: np.ndarray) -> np.ndarray:
    return ~np.isnan(matrix).all(axis=1)


def by_domain(texts: Scored, dataset: str) -> dict[str, Rows]:
    """The labelled texts of each domain of a dataset; UserError where it has less than two."""
    if texts.domains is None:
        raise UserError(
            f"dataset {dataset}: it has no column `domain`; name two or more datasets instead"
        )
    known = texts.labels >= 0
    names = sorted({name for name in texts.domains[known] if name is not None})
    if len(names) < 2:
        raise UserError(f"dataset {dataset}: its labelled texts are of {len(names)} domains, not 2")
    return {name: texts.rows(known & (texts.domains == name)) for name in names}


def main() -> None:
    """Cross all domains of one transfer under one model."""
    args = arguments(__doc__, ["transfer"], ["texts", "scores"])
    settings = args.settings
    found = {}
    for dataset, path in zip(settings["datasets"], args.texts, strict=True):
        scores_of = [p for p in args.scores if p.parent.name == settings["pools"][dataset]]
        found[dataset] = read_scored(path, scores_of, settings["settings"])
    if len(found) == 1:
        [(dataset, texts)] = found.items()
        domains = by_domain(texts, dataset)
    else:
        domains = {name: texts.rows(texts.labels >= 0) for name, texts in found.items()}
    state = derive(settings["seed"], "transfer", settings["transfer"]) % 2**32
    learner = importlib.import_module(f"scripts.learners.{settings['classifier']}")
    rows = cross(domains, learner.pipeline(state), state)
    TRANSFER.write(
        args.transfer,
        pa.Table.from_pylist(
            [{"model": settings["model"], **row} for row in rows], TRANSFER.required
        ),
        {**settings, "scores": [provenance(path) for path in args.scores]},
    )


if __name__ == "__main__":
    run(main)
