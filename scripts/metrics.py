"""Scores and labels in; AUC, TPR at FPR, their intervals and paired differences out."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.metrics import GATE, METRICS
from scripts.contracts.scores import UNSCORED
from scripts.contracts.table import provenance
from scripts.evaluation.differences import add_differences, add_over_loss
from scripts.evaluation.inputs import read_sample, read_scores, setting_names
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
    add_over_loss(rows, scores, loss, sample, loss_name if args.scores == args.loss else None)
    for gate in args.gate:
        blind = _best_baseline(gate, args.blind, ids)
        add_differences(rows, scores, blind, sample, "over_blind")

    source = provenance(args.scores)
    for row in rows:
        _learned(row, source.get("permutation_p", {}))
    METRICS.write(
        args.metrics,
        pa.Table.from_pylist(rows, METRICS.required),
        {**settings, "scores": source},
    )


def _best_baseline(gate: Path, blind: list[Path], ids: pa.ChunkedArray) -> np.ndarray:
    """The scores [n] of the classifier that the gate calls the best of its dataset."""
    rows = GATE.read(gate, ["baseline", "classifier", "best"]).to_pylist()
    [best] = [row for row in rows if row["best"]]
    [path] = [path for path in blind if path.stem == best["baseline"]]
    return read_scores(path, ids, [best["classifier"]])[0]


def _learned(row: dict, permutation_p: dict[str, float]) -> None:
    """Take the p-value of an ensemble from permuted labels, and none for its differences.

    It learned from the texts that it is judged on, out of fold, so DeLong's errors are too small.
    """
    if row["setting"] in permutation_p:
        row |= {"p": permutation_p[row["setting"]], "over_loss_p": None, "over_blind_p": None}


if __name__ == "__main__":
    run(main)
