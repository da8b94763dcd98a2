"""The stream of batches that a training order stands for."""

from pathlib import Path

import numpy as np

from scripts.contracts.orders import ORDER
from scripts.contracts.texts import TEXTS


def stream(corpus: Path, order: Path) -> np.ndarray:
    """Token ids of all trained batches, int32 [steps, batch, window]."""
    table = ORDER.read(order)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    trained = columns["exposures"] > 0
    step, slot, row = (columns[name][trained] for name in ("step", "slot", "row"))
    rows = row[np.lexsort((slot, step))].reshape(step.max() + 1, slot.max() + 1)
    lists = TEXTS.read(corpus, ["token_ids"])["token_ids"].combine_chunks()
    return lists.flatten().to_numpy().reshape(len(lists), -1)[rows]
