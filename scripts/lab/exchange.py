"""Orders of control models: which windows a dataset knows, and its members and non-members swapped.

A twin is trained like its target, slot for slot, except that the target's evaluated members stand
where its evaluated non-members stood, and these where members stood.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.contracts.texts import TEXTS
from scripts.errors import UserError


def places(corpus: pa.Table, texts: Path) -> np.ndarray:
    """Rows of the corpus that stand in a file of texts, int64."""
    place = {text_id: row for row, text_id in enumerate(corpus["text_id"].to_pylist())}
    ids = TEXTS.read(texts, ["text_id"])["text_id"].to_pylist()
    return np.array([place[text_id] for text_id in ids], dtype=np.int64)


def partners(
    exposures: np.ndarray, judged: np.ndarray, aside: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Windows that leave the training, and those that take their places; int64, of one length.

    `exposures` [windows] says how often the target saw each; `judged` are the rows of the dataset
    that is evaluated, `aside` its rows that never are, which keep their roles. All members leave.
    The non-members come in for those that were seen least often, so that members seen once and
    non-members are exchanged outright; windows that the dataset does not know come in for the rest.
    """
    members = rng.permutation(judged[exposures[judged] > 0])
    members = members[np.argsort(exposures[members], kind="stable")]
    unseen = exposures == 0
    spare = unseen.copy()
    spare[np.concatenate([judged, aside])] = False
    entering = np.concatenate(
        [rng.permutation(judged[unseen[judged]]), rng.permutation(np.flatnonzero(spare))]
    )
    if len(entering) < len(members):
        raise UserError(
            f"config/lab.yaml: an exchange of {len(members)} members needs as many windows that "
            f"were never trained, and {len(entering)} are there; lower the pool's numbers"
        )
    return members, entering[: len(members)]


def exchanged(order: pa.Table, leaving: np.ndarray, entering: np.ndarray) -> pa.Table:
    """The order in which ``leaving[i]`` and ``entering[i]`` have changed places."""
    partner = np.arange(order["row"].to_numpy().max() + 1, dtype=np.int32)
    partner[leaving], partner[entering] = entering, leaving
    rows = pa.array(partner[order["row"].to_numpy()])
    # Exposures belong to the places: who comes in is trained as often as who leaves was.
    return order.set_column(order.column_names.index("row"), order.schema.field("row"), rows)
