"""MoPe: by how much noise on the weights makes a text less likely.

mean_j NLL(x; theta + e_j) - NLL(x; theta), NLL the mean loss per token and e_j Gaussian noise of
standard deviation sigma on all weights; up to a factor the trace of the loss's Hessian. Copies and
sigma stand in config/views.yaml.
Source: Li et al. 2023 (arXiv 2310.14369); 10 copies and sigma 0.005 as in CheckMIABench.
"""

from scripts.attacks.batch import Batch, Scored
from scripts.attacks.views import difference


def score(batch: Batch) -> Scored:
    """Mean loss of the copies minus the model's, in nats per token, float64 [n]."""
    (copies,) = batch.views.values()  # the view that the registry entry names
    return difference(batch["logprob"].means(), copies["logprob"].means(), copies.text)
