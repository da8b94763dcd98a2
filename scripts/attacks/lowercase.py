"""Lowercase: the loss of the text in lower case over its own loss, L(lower(x)) / L(x).

L is the mean log-prob. Lower-casing changes the number of tokens; each mean is over its own. A text
whose lower-cased form has no scored token scores 1, as if nothing had changed, and is counted.
Source: Carlini et al. 2021 (arXiv 2012.07805), with the sign turned so that members score higher.
"""

import numpy as np

from scripts.attacks.batch import Batch, Scored
from scripts.attacks.views import ratio


def score(batch: Batch) -> Scored:
    """Ratio of losses of each text, float64 [n], and which have no reading in lower case."""
    (view,) = batch.views.values()
    scores, fallback = np.ones(len(batch)), np.ones(len(batch), dtype=bool)
    scores[view.text] = ratio(view["logprob"].means(), batch["logprob"].means()[view.text])
    fallback[view.text] = False
    return Scored(scores, fallback)
