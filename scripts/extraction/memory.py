"""How many tokens and rows of logits fit into a limit of memory, before any is used."""

from collections.abc import Callable
from dataclasses import replace

from scripts.extraction.batching import Budget
from scripts.models.transformers import Backbone

PROGRAM = 700  # MiB: Python, PyTorch, transformers, the texts
LEAST_ROWS, LEAST_TOKENS = 32, 256  # below these the pass would crawl


def limited(
    budget: Budget, rows: int, memory: int | None, backbone: Backbone, log: Callable[[str], None]
) -> tuple[Budget, int]:
    """`budget` and `rows` of logits, cut to a limit of `memory` MiB (None: no limit).

    The weights come first; of what is left, half is for a batch's activations and a third for
    logits. The estimate depends on the model and the limit alone, so the batches do too.
    """
    if memory is None or backbone.device.type != "cpu":
        return budget, rows
    left = (memory - PROGRAM) * 2**20 - backbone.nbytes
    tokens = int(left / 2 / backbone.bytes_per_token)
    fitting = int(left / 3 / (4 * backbone.vocabulary))
    if tokens < LEAST_TOKENS or fitting < LEAST_ROWS:
        least = max(
            2 * LEAST_TOKENS * backbone.bytes_per_token, 12 * LEAST_ROWS * backbone.vocabulary
        )
        needed = PROGRAM + (backbone.nbytes + least) // 2**20
        log(f"{memory} MB of memory are too few for this model: it needs about {needed} (mem_mb)")
    batch = min(budget.batch, max(tokens, LEAST_TOKENS))
    return replace(budget, batch=batch), min(rows, max(fitting, LEAST_ROWS))
