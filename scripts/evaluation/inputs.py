"""Labels and scores of one dataset, read from their files and brought into one order."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scripts.contracts.scores import SCORES
from scripts.contracts.texts import TEXTS
from scripts.evaluation.sample import Sample, make_sample


def read_sample(path: Path, dataset: str) -> tuple[pa.ChunkedArray, Sample]:
    """The ids and the sample of the labelled texts in a file of texts, in its order."""
    texts = TEXTS.read(path, ["text_id", "label", "group"])
    texts = texts.filter(pc.is_valid(texts["label"]))
    labels = texts["label"].to_numpy() == 1
    groups = pc.dictionary_encode(texts["group"].combine_chunks()).indices.to_numpy()
    return texts["text_id"], make_sample(labels, groups, dataset)


def setting_names(path: Path) -> list[str]:
    """The settings (or classifiers) in a file of scores, in its order."""
    return [name for name in pq.read_schema(path).names if name != "text_id"]


def read_scores(path: Path, ids: pa.ChunkedArray, columns: Sequence[str]) -> np.ndarray:
    """The `columns` of a file of scores for the texts `ids`: float64 [columns, texts].

    The file may hold more texts (a pool's, of which the dataset is a selection). Raises
    ValueError where it lacks one, or where a score is NaN.
    """
    table = SCORES.read(path, ["text_id", *columns])
    places = pc.index_in(ids, value_set=table["text_id"])
    if places.null_count:
        raise ValueError(f"{path}: no score for {places.null_count} of {len(ids)} texts")
    table = table.take(places)
    scores = np.array([table[name].to_numpy() for name in columns])
    for name, row in zip(columns, scores, strict=True):
        if np.isnan(row).any():
            raise ValueError(f"{path}: {name} has NaN scores")
    return scores
