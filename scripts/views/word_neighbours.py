"""Word neighbours: a stand-in for neighbours by a masked language model, where none can be had.

Each neighbour has max(1, floor(share * words)) words replaced by other words that WordNet has in
any of their senses (scripts.views.lexicon). A masked model proposes what fits the place; a
dictionary proposes what shares a meaning, and knows nothing of names, numbers and inflected words.
So these neighbours stand further off, some texts have few, and results with them do not carry over
to Neighbour as published (scripts.views.neighbours).
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from scripts.seeds import generator
from scripts.views.lexicon import Lexicon, Slot, put
from scripts.views.tables import part, several

TRIES = 10  # draws for each neighbour that is wanted, before a text is left with fewer


def rewrite(texts: pa.Table, aside: pa.Table, *, seed: int, n: int, share: float) -> pa.Table:
    """Up to `n` different neighbours of each text; `aside` is not used."""
    strings = texts["text"].to_pylist()
    found = Lexicon(senses=None).slots(strings, "neighbours")
    return several(
        texts,
        [
            neighbours(text, slots, n, share, generator(seed, "neighbours", name))
            for name, text, slots in zip(texts["text_id"].to_pylist(), strings, found, strict=True)
        ],
    )


def neighbours(
    text: str, slots: Sequence[Slot], n: int, share: float, rng: np.random.Generator
) -> list[str]:
    """Up to `n` different texts, each with another word in some of the slots."""
    wanted = min(part(share, len(text.split())), len(slots))
    made: dict[str, None] = {}
    for _ in range(TRIES * n if slots else 0):
        chosen = [slots[i] for i in rng.choice(len(slots), size=wanted, replace=False)]
        made[put(text, [(slot, str(rng.choice(slot.others))) for slot in chosen])] = None
        if len(made) == n:
            break
    return list(made)
