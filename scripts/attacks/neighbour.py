"""Neighbour: a text's mean log-prob minus that of its neighbours, L(x) - mean_j L(x_j).

Neighbours differ from the text in few words; the view that the entry names says who proposed them.
A text without neighbours scores 0, as its own neighbour, and is counted.
Source: Mattern et al. 2023 (arXiv 2305.18462).
"""

from scripts.attacks.batch import Batch, Scored
from scripts.attacks.views import difference


def score(batch: Batch) -> Scored:
    """Difference of mean log-probs in nats, float64 [n], and which texts have no neighbour."""
    (view,) = batch.views.values()
    return difference(batch["logprob"].means(), view["logprob"].means(), view.text)
