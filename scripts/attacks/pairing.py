"""The log-probs of texts by a model and its reference, side by side."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scripts.attacks.batch import Batch, Ragged, Reading
from scripts.attacks.views import cut


class Pairs(NamedTuple):
    """Texts that both models score; of their tokens those that both read."""

    text: np.ndarray  # int64 [n], places in the batch
    same: np.ndarray  # bool [n], whether both read the same tokens
    own: Ragged  # log-probs by the model, n rows
    other: Ragged  # by the reference


@lru_cache(maxsize=1)
def pairs(batch: Batch, reference: Reading) -> Pairs:
    """The batch's texts beside those that the reference scores.

    Where one model's context cuts a text earlier, the tokens before the cut are compared. Texts of
    two tokenizers show other ids: there `same` is False, and the tokens do not belong together.
    """
    text = reference.text
    lengths = np.minimum(batch["logprob"].lengths[text], reference["logprob"].lengths)
    own_starts = batch["logprob"].offsets[:-1][text]
    starts = reference["logprob"].offsets[:-1]
    differs = cut(batch["token_id"], own_starts, lengths) != cut(
        reference["token_id"], starts, lengths
    )
    return Pairs(
        text,
        differs.means() == 0,
        cut(batch["logprob"], own_starts, lengths),
        cut(reference["logprob"], starts, lengths),
    )
