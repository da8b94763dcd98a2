"""WBC: votes of windows, sum of the model's losses against sum of a reference model's.

For every width w, f_w is the share of all stretches of w tokens in a row in which the reference's
losses add up to more than the model's; the score is the mean of f_w over ten widths, spaced about
geometrically from 2 to 40 tokens. A text of fewer than w tokens is one window. Both models must
read the same tokens. A text that the reference does not score takes 1/2, as many votes for as
against; it is counted.
Source: Chen et al. 2026, "Window-based Membership Inference Attacks Against Fine-tuned Large
Language Models" (arXiv 2601.02751); widths as in the configuration of its released code. There the
reference is the model before fine-tuning.
"""

import numpy as np

from scripts.attacks.batch import Batch, Ragged, Scored
from scripts.attacks.pairing import pairs
from scripts.errors import UserError

WIDTHS = (2, 3, 4, 6, 9, 13, 18, 25, 32, 40)


def score(batch: Batch) -> Scored:
    """Share of votes for a member, from 0 to 1, float64 [n]."""
    (reading,) = batch.references.values()  # the model that the registry entry names
    text, same, own, other = pairs(batch, reading)
    if not same.all():
        name = batch.text_ids[text[np.argmin(same)]]
        raise UserError(
            f"the reference reads other tokens in text '{name}': it has another tokenizer; choose "
            "one with the model's own"
        )
    scores, missing = np.full(len(batch), 0.5), np.ones(len(batch), dtype=bool)
    missing[text] = False
    lower = own - other  # by how much the model's loss is the lower one
    # One after the other: np.mean adds them in another order for one text than for many.
    scores[text] = sum(_votes(lower, width) for width in WIDTHS) / len(WIDTHS)
    return Scored(scores, missing)


def _votes(lower: Ragged, width: int) -> np.ndarray:
    """Share of the windows of `width` tokens whose sum is above 0; of the whole row if shorter."""
    votes = (lower.moving_averages(width) > 0).means()
    return np.where(lower.lengths < width, lower.means() > 0, votes)
