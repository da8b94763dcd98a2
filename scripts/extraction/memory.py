"""How many tokens fit into a limit of memory, before any is used."""

from collections.abc import Callable
from dataclasses import replace

from scripts.extraction.batching import Budget
from scripts.models.transformers import Backbone

PROGRAM = 700  # MiB: Python, PyTorch, transformers, the texts, a tile of logits
LEAST = 256  # tokens; below, the pass would crawl


def limited(
    budget: Budget, memory: int | None, backbone: Backbone, log: Callable[[str], None]
) -> Budget:
    """`budget` with batches cut to a limit of `memory` MiB (None: no limit).

    The weights come first; of what is left, three quarters are for a batch's activations. The
    estimate depends on the model and the limit alone, so the batches do too.
    """
    if memory is None or backbone.device.type != "cpu":
        return budget
    left = (memory - PROGRAM) * 2**20 - backbone.nbytes
    tokens = int(left * 0.75 / backbone.bytes_per_token)
    if tokens < LEAST:
        activations = int(LEAST * backbone.bytes_per_token / 0.75)
        needed = PROGRAM + (backbone.nbytes + activations) // 2**20
        log(f"{memory} MB of memory are too few for this model: it needs about {needed} (mem_mb)")
    return replace(budget, batch=min(budget.batch, max(tokens, LEAST)))
