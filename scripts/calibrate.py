"""Thresholds from known non-members: scores in; a p-value and a decision for each other text out.

Half of the non-members, by group, calibrate, or those of another dataset do; none of them is ever
judged. No member is needed: texts without a label get p-values, too. A p-value is the probability
that a non-member like those that calibrate scores as high (scripts/evaluation/conformal.py).
"""

import sys

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.calibration import CALIBRATION
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.evaluation.conformal import needed, p_values, threshold
from scripts.evaluation.inputs import read_scores
from scripts.seeds import generator


def half_of(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whole groups, drawn until they hold half of the texts: bool, as `groups` (names)."""
    names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(names))
    # A group is in where the texts before it, and half of its own, are no more than half.
    middle = np.cumsum(sizes[order]) - sizes[order] / 2
    return np.isin(codes, order[middle <= len(groups) / 2])


def calibrate(texts: pa.Table, scores: np.ndarray, known: np.ndarray, settings: dict) -> pa.Table:
    """The rows of CALIBRATION for `scores` [settings, texts].

    `known` [settings, calibrating] are the scores of another dataset's non-members, and without a
    column where half of the non-members in `texts` calibrate.
    """
    nonmembers = texts["label"].fill_null(1).to_numpy() == 0
    judged = np.ones(texts.num_rows, dtype=bool)
    if not known.shape[1]:
        dataset, groups = settings["dataset"], texts["group"].to_numpy()[nonmembers]
        if len(np.unique(groups)) < 2:
            raise UserError(
                f"dataset {dataset}: a threshold needs non-members (label 0) of two or more "
                "groups, half of which it is tried on; add some, or name a dataset that has them "
                "(`calibration` in the dataset's entry)"
            )
        rng = generator(settings["seed"], "calibration", dataset)
        judged[np.flatnonzero(nonmembers)[half_of(groups, rng)]] = False
        known = scores[:, ~judged]
    parts = []
    for name, row, calibrating in zip(settings["settings"], scores, known, strict=True):
        gamma = threshold(calibrating, settings["fpr"])
        p = p_values(row, calibrating)
        columns = {
            "text_id": texts["text_id"],
            "group": texts["group"],
            "label": texts["label"],
            "setting": [name] * len(row),
            "score": row,
            "judged": judged,
            "p_value": pa.array(p, mask=~judged),
            # Without a threshold nobody can be called a member, which is no finding.
            "decision": pa.array(p <= settings["fpr"], mask=~judged | (gamma is None)),
            "threshold": pa.array([gamma] * len(row), pa.float64()),
        }
        parts.append(pa.table(columns, schema=CALIBRATION.required))
    return pa.concat_tables(parts)


def others(elsewhere: pa.Table, texts: pa.Table, settings: dict) -> pa.Table:
    """The non-members of another dataset that share no text and no group with `texts`."""
    wanted = elsewhere["label"].fill_null(1).to_numpy() == 0
    for key in ("text_id", "group"):
        wanted &= ~np.isin(elsewhere[key].to_numpy(), texts[key].to_numpy())
    if not wanted.any():
        raise UserError(
            f"dataset {settings['dataset']}: no non-member of '{settings['calibration']}' is left "
            "to calibrate on that shares no group with its texts; name another dataset"
        )
    return elsewhere.filter(pa.array(wanted))


def main() -> None:
    """Calibrate all settings of one attack on one dataset under one model."""
    args = arguments(__doc__, ["texts", "scores", "calibration"], ["other-texts", "other-scores"])
    settings = args.settings
    columns = ["text_id", "label", "group"]
    texts = TEXTS.read(args.texts, columns)
    scores = read_scores(args.scores, texts["text_id"], settings["settings"])
    known = np.empty((len(scores), 0))
    for path, found in zip(args.other_texts, args.other_scores, strict=True):
        elsewhere = others(TEXTS.read(path, columns), texts, settings)
        known = read_scores(found, elsewhere["text_id"], settings["settings"])
    table = calibrate(texts, scores, known, settings)
    calibrating = known.shape[1] or int((~table["judged"].to_numpy()[: texts.num_rows]).sum())
    print(f"{settings['dataset']}: calibrated on {calibrating} non-members", file=sys.stderr)
    if calibrating < needed(settings["fpr"]):
        print(
            f"too few for an FPR of {settings['fpr']}, which takes {needed(settings['fpr'])}: no "
            "text gets a decision",
            file=sys.stderr,
        )
    CALIBRATION.write(
        args.calibration,
        table,
        {**settings, "calibrating": calibrating, "scores": provenance(args.scores)},
    )


if __name__ == "__main__":
    run(main)
