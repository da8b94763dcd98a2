"""Scores of a blind baseline: classifiers that see texts and labels, but no model.

They learn on the rows aside where there are enough, else out of fold on the evaluated rows. What is
learned (the choice and weights of terms, the classifier) is learned on those rows alone. The footer
holds `learned_on` (aside or out-of-fold), `inner_auc` of each classifier (inner cross-validation on
the rows learned from: what a choice of the best may use) and, out of fold, `permutation_p` of the
classifier with the best inner AUC.
"""

import importlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.baselines.classifiers import pipeline
from scripts.baselines.groups import nested
from scripts.baselines.learning import OUTER, Baseline, Rows, from_aside, from_folds, sample
from scripts.cli import arguments, run
from scripts.contracts.scores import SCORES
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.evaluation.classes import check_classes
from scripts.seeds import generator

LEARN = 4_000  # rows a class to learn on, as in CheckMIABench
ENOUGH = 200  # rows a class aside that are always enough


def judge(texts: pa.Table, aside: pa.Table, settings: dict) -> tuple[pa.Table, dict]:
    """Scores of `texts` by each classifier of a baseline (contract SCORES), and provenance.

    `settings`: dataset, baseline, features (a module of scripts/baselines/), on (text or tokens),
    classifiers, permutations, seed.
    """
    dataset, seed, on = settings["dataset"], settings["seed"], settings["on"]
    module = importlib.import_module(f"scripts.baselines.{settings['features']}")
    if on not in module.ON:
        raise UserError(
            f"baseline {settings['baseline']}: {settings['features']} works on "
            f"{' and '.join(module.ON)}, not on {on}; change its `input`"
        )
    known = pc.is_valid(texts["label"])
    labelled, unlabelled = texts.filter(known), texts.filter(pc.invert(known))
    nonmembers, members = np.bincount(_labels(labelled), minlength=2).tolist()
    check_classes(members, nonmembers, dataset)
    learn = learnable(texts, aside, generator(seed, "blind aside", dataset))

    parts = [labelled, unlabelled, learn]
    columns = ["text", *(["token_ids"] if on == "tokens" else [])]
    if on == "tokens" and any(_without_tokens(part) for part in parts):
        raise UserError(
            f"dataset {dataset}: it has texts or rows aside without token_ids, which baseline "
            f"{settings['baseline']} counts; take baselines on text instead "
            "(`baselines: [bow_text, tfidf_text]` in the dataset's entry)"
        )
    # Features of one text depend on no other one, so they are computed for all parts at once.
    matrix = module.features(pa.concat_tables(part.select(columns) for part in parts), on)
    ends = np.cumsum([len(part) for part in parts])

    baseline = Baseline({}, seed, dataset)
    for name in settings["classifiers"]:
        state = baseline.state("blind", name)
        baseline.pipelines[name] = pipeline(name, module.steps(), state)
    if len(learn):
        rows = Rows(matrix[ends[1] :], _labels(learn), _groups(learn))
        judged, found = from_aside(baseline, rows, matrix[: ends[1]])
    else:
        rows = Rows(matrix[: ends[0]], _labels(labelled), _groups(labelled))
        judged, found = from_folds(
            baseline, rows, matrix[ends[0] : ends[1]], settings["permutations"]
        )
    nonmembers, members = np.bincount(rows.labels).tolist()
    found["learned_from"] = {"members": members, "nonmembers": nonmembers}
    text_ids = pa.concat_tables([labelled, unlabelled])["text_id"]
    order = pc.index_in(texts["text_id"], text_ids)  # back to that of the texts
    return pa.table({"text_id": text_ids, **judged}).take(order), found


def learnable(texts: pa.Table, aside: pa.Table, rng: np.random.Generator) -> pa.Table:
    """The rows aside to learn on: labelled, at most `LEARN` a class, in their order.

    Empty where a class has too few: less than `ENOUGH`, and less than out-of-fold would learn on.
    Where groups belong to one class, rows of groups that are also evaluated are left out, because a
    classifier that knows a book's label would only recognise the book.
    """
    aside = aside.filter(pc.is_valid(aside["label"]))
    evaluated = texts.filter(pc.is_valid(texts["label"]))
    labels = np.concatenate([_labels(evaluated), _labels(aside)])
    groups = np.concatenate([_groups(evaluated), _groups(aside)])
    if nested(labels, groups):
        shared = pc.is_in(aside["group"], evaluated["group"].combine_chunks())
        aside = aside.filter(pc.invert(shared))
    out_of_fold = np.bincount(_labels(evaluated)).min() * (OUTER - 1) // OUTER
    if np.bincount(_labels(aside), minlength=2).min() < min(ENOUGH, max(out_of_fold, 1)):
        return aside.slice(0, 0)
    return aside.take(pa.array(sample(_labels(aside), LEARN, rng)))


def _labels(texts: pa.Table) -> np.ndarray:
    return texts["label"].to_numpy().astype(int)


def _groups(texts: pa.Table) -> np.ndarray:
    return texts["group"].to_numpy()


def _without_tokens(texts: pa.Table) -> bool:
    return "token_ids" not in texts.column_names or texts["token_ids"].null_count > 0


def main() -> None:
    """Judge the texts of a dataset by a blind baseline."""
    args = arguments(__doc__, ["texts", "aside", "blind"])
    table, found = judge(TEXTS.read(args.texts), TEXTS.read(args.aside), args.settings)
    print(f"learned on {found['learned_on']}: {found['learned_from']}", file=sys.stderr)
    SCORES.write(args.blind, table, {**args.settings, **found})


if __name__ == "__main__":
    run(main)
