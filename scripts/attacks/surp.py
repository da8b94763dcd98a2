"""SURP: the mean log-prob of the surprising tokens, those where the model was certain but wrong.

Surprising are the tokens among the k lowest log-probs of the text, k = max(1, floor(ratio * n)),
equal ones included, whose next-token distribution has an entropy under `entropy` nats. A text
without any takes its mean log-prob (Loss), and is counted; the code of Meeus et al. 2024 (SoK)
gives it -100.
Source: Zhang and Wu 2024 (arXiv 2407.21248).
"""

from scripts.attacks.batch import Batch, Scored, count, means_or_loss


def score(batch: Batch, *, ratio: float, entropy: float) -> Scored:
    """Mean log-prob of the surprising tokens in nats, float64 [n], and who took their Loss."""
    logprob = batch["logprob"]
    kth = logprob.offsets[:-1] + count(ratio, logprob.lengths) - 1
    low = logprob.values <= logprob.ascending.values[kth][logprob.rows]
    surprising = low & (-batch["mean_logprob"].values < entropy)
    return means_or_loss(batch, logprob.values[surprising], logprob.rows[surprising])
