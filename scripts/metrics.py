"""Scores and labels in; AUC, TPR at FPR, their intervals and paired differences out."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.metrics import GATE, METRICS
from scripts.contracts.scores import UNSCORED
from scripts.contracts.table import provenance
from scripts.evaluation.delong import p_value, paired
from scripts.evaluation.inputs import read_sample, read_scores, setting_names
from scripts.evaluation.sample import Sample
from scripts.evaluation.summary import summarise


def main() -> None:
    """Evaluate one attack on one model and dataset, a row per setting, against Loss and blind.

    The blind scores are those of the gate's best classifier; `--gate` is empty where the dataset
    has no baselines.
    """
    args = arguments(__doc__, ["texts", "scores", "loss", "metrics"], ["gate", "blind"])
    settings = args.settings
    dataset, names = settings["dataset"], settings["settings"]
    ids, sample = read_sample(args.texts, dataset)
    scores = read_scores(args.scores, ids, names)
    rows = summarise(dataset, scores, sample, settings["bootstrap"], settings["seed"])
    named = {"model": settings["model"], "attack": settings["attack"]}
    for row, name, unscored in zip(rows, names, (scores == UNSCORED).sum(1), strict=True):
        row |= named | {"setting": name, "unscored": int(unscored)}

    loss_name = setting_names(args.loss)[0]
    [loss] = read_scores(args.loss, ids, [loss_name])
    _add_differences(rows, scores, loss, sample, "over_loss")
    if args.scores == args.loss:
        itself = next(row for row in rows if row["setting"] == loss_name)
        itself |= dict.fromkeys(_difference_columns("over_loss"))
    for gate in args.gate:
        blind = _best_baseline(gate, args.blind, ids)
        _add_differences(rows, scores, blind, sample, "over_blind")

    METRICS.write(
        args.metrics,
        pa.Table.from_pylist(rows, METRICS.required),
        {**settings, "scores": provenance(args.scores)},
    )


def _best_baseline(gate: Path, blind: list[Path], ids: pa.ChunkedArray) -> np.ndarray:
    """The scores [n] of the classifier that the gate calls the best of its dataset."""
    rows = GATE.read(gate, ["baseline", "classifier", "best"]).to_pylist()
    [best] = [row for row in rows if row["best"]]
    [path] = [path for path in blind if path.stem == best["baseline"]]
    return read_scores(path, ids, [best["classifier"]])[0]


def _add_differences(
    rows: list[dict], scores: np.ndarray, reference: np.ndarray, sample: Sample, column: str
) -> None:
    """Add the AUC of each row less that of `reference` [n], on the same texts, and its test."""
    differences, errors = paired(scores, reference, sample)
    for row, difference, error in zip(rows, differences.tolist(), errors.tolist(), strict=True):
        found = difference, error, p_value(difference, error, sample)
        row |= dict(zip(_difference_columns(column), found, strict=True))


def _difference_columns(column: str) -> list[str]:
    return [column, f"{column}_se", f"{column}_p"]


if __name__ == "__main__":
    run(main)
