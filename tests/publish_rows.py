"""Synthetic METRICS, GATE, TEXTS and SCORES files for the tests of what is published."""

from pathlib import Path

import pyarrow as pa

from scripts.contracts.metrics import GATE, METRICS
from scripts.contracts.scores import SCORES
from scripts.contracts.texts import TEXTS

EVALUATION = {
    "dataset": "d",
    "members": 1000,
    "nonmembers": 1000,
    "member_groups": 1000,
    "nonmember_groups": 1000,
    "grouping": "none",
    "auc": 0.55,
    "auc_se": 0.0125,
    "auc_low": 0.52,
    "auc_high": 0.58,
    "auc_se_bootstrap": 0.0126,
    "z": 4.0,
    "p": 0.001,
    "tpr_at_0.05": 0.08,
    "tpr_at_0.05_low": 0.06,
    "tpr_at_0.05_high": 0.1,
    "fpr_at_0.05": 0.049,
    "tpr_at_0.01": 0.02,
    "tpr_at_0.01_low": 0.01,
    "tpr_at_0.01_high": 0.03,
    "fpr_at_0.01": 0.009,
}


def around(values):
    """The values, with an interval that holds the AUC where only that is given."""
    if "auc" not in values:
        return values
    return {"auc_low": values["auc"] - 0.03, "auc_high": values["auc"] + 0.03, **values}


def metric(setting="loss", **values):
    """A METRICS row; attack and null differences to itself follow from the setting."""
    row = {
        "model": "m",
        "attack": setting.partition("(")[0],
        "setting": setting,
        **EVALUATION,
        "unscored": 0,
        "over_loss": 0.01,
        "over_loss_se": 0.005,
        "over_loss_p": 0.5,
        "over_blind": 0.02,
        "over_blind_se": 0.005,
        "over_blind_p": 0.5,
        **around(values),
    }
    if setting == "loss":
        row |= dict.fromkeys(("over_loss", "over_loss_se", "over_loss_p"))
    return row


def counted(row):
    """The row as read_metrics gives it, with the counts of the footer."""
    return {"fallback": 0, "truncated": 0, **row}


def gate(baseline="bow_text", classifier="logistic_regression", **values):
    """A GATE row, by default the best of its dataset, without a shift."""
    return {
        "baseline": baseline,
        "classifier": classifier,
        **EVALUATION,
        "learned_on": "aside",
        "inner_auc": 0.5,
        "selection": "inner",
        "chosen": True,
        "best": True,
        "p_permutation": 0.4,
        "smallest_visible_auc": 0.532,
        "shift": False,
        **around(values),
    }


def write_metrics(folder: Path, rows, **footer):
    """…/metrics/{model}/{dataset}/{attack}.parquet for each attack of the rows, in any order."""
    files = {}
    for row in rows:
        path = folder / "metrics" / row["model"] / row["dataset"] / f"{row['attack']}.parquet"
        files.setdefault(path, []).append(row)
    for path, found in files.items():
        METRICS.write(path, pa.Table.from_pylist(found, METRICS.required), footer)
    return list(files)


def write_gates(folder: Path, rows):
    """…/gates/{dataset}.parquet for each dataset of the rows."""
    files = {}
    for row in rows:
        files.setdefault(folder / "gates" / f"{row['dataset']}.parquet", []).append(row)
    for path, found in files.items():
        GATE.write(path, pa.Table.from_pylist(found, GATE.required), {})
    return list(files)


def write_texts(folder: Path, dataset, labels, **columns):
    """…/texts/{dataset}/original.parquet with ids t0, t1, … and int32 columns."""
    path = folder / "texts" / dataset / "original.parquet"
    table = pa.table(
        {
            "text_id": [f"t{i}" for i in range(len(labels))],
            "text": ["text"] * len(labels),
            "label": pa.array(labels, pa.int8()),
            "group": [f"g{i}" for i in range(len(labels))],
            **{name: pa.array(values, pa.int32()) for name, values in columns.items()},
        }
    )
    TEXTS.write(path, table, {"dataset": dataset})
    return path


def write_scores(folder: Path, model, dataset, attack, **columns):
    """…/scores/{model}/{dataset}/{attack}.parquet for the ids of write_texts."""
    path = folder / "scores" / model / dataset / f"{attack}.parquet"
    n = len(next(iter(columns.values())))
    SCORES.write(path, pa.table({"text_id": [f"t{i}" for i in range(n)], **columns}), {})
    return path
