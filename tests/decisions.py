"""Files of texts and scores for the tests of what scores decide."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.contracts.scores import SCORES
from scripts.contracts.texts import TEXTS


def write_texts(folder: Path, dataset, labels, groups=None, domains=None):
    """…/texts/{dataset}/original.parquet with ids {dataset}-0, {dataset}-1, …"""
    ids = [f"{dataset}-{i}" for i in range(len(labels))]
    columns = {
        "text_id": pa.array(ids),
        "text": pa.array(["a text"] * len(ids)),
        "label": pa.array(labels, pa.int8()),
        "group": pa.array(ids if groups is None else [str(group) for group in groups]),
    }
    if domains is not None:
        columns["domain"] = pa.array(domains)
    path = folder / "texts" / dataset / "original.parquet"
    TEXTS.write(path, pa.table(columns), {"dataset": dataset})
    return path


def write_scores(folder: Path, dataset, attack, **columns):
    """…/scores/m/{dataset}/{attack}.parquet for the ids of write_texts; "a__1" is "a(1)"."""
    path = folder / "scores" / "m" / dataset / f"{attack}.parquet"
    values = {
        (f"{name.replace('__', '(')})" if "__" in name else name): np.asarray(column, float)
        for name, column in columns.items()
    }
    ids = [f"{dataset}-{i}" for i in range(len(next(iter(values.values()))))]
    SCORES.write(path, pa.table({"text_id": pa.array(ids), **values}), {"attack": attack})
    return path


def run_step(monkeypatch, step, settings, **paths):
    """Run a step's main with options from `paths` (one path, or a list) and settings."""
    words = ["step", "--settings", json.dumps(settings)]
    for name, value in paths.items():
        listed = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, listed)]
    monkeypatch.setattr(sys, "argv", words)
    step.main()
