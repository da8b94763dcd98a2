"""From encoded texts to the parts of a pass: cut, in shards, behind prefixes, in batches."""

from dataclasses import dataclass, replace

import numpy as np

from scripts.extraction.batching import Budget, Part, plan_batches, plan_parts
from scripts.extraction.encoding import Encoded
from scripts.extraction.overflow import Overflow
from scripts.extraction.work import Work, plan_work


@dataclass(frozen=True)
class Plan:
    """What is read. `encoded` holds the tokens; the first of each text is not scored."""

    encoded: Encoded
    work: Work
    parts: list[Part]
    prefixes: list[np.ndarray]  # all but their last token, which stands before each text


def shard(lengths: np.ndarray, number: int, of: int) -> np.ndarray:
    """Rows of shard `number` (from 1) of `of`, ascending.

    Sorted by length and dealt forth and back, so that all shards hold as many tokens.
    """
    order = np.argsort(-lengths, kind="stable")
    turn, place = np.divmod(np.arange(len(order)), of)
    dealt = np.where(turn % 2, of - 1 - place, place)
    return np.sort(order[dealt == number - 1])


def plan(
    encoded: Encoded,
    overflow: Overflow,
    budget: Budget,
    prefixes: tuple[list[np.ndarray], np.ndarray] | None = None,
) -> Plan:
    """Plan a pass over `encoded`; `prefixes` are the distinct ones and which each text has."""
    encoded = encoded.truncate(overflow.limit)
    texts, heads = np.zeros(len(encoded.bounds) - 1, np.int64), [np.zeros(0, np.int64)]
    if prefixes is not None:
        distinct, texts = prefixes
        encoded = encoded.prepend(np.asarray([ids[-1] for ids in distinct])[texts])
        heads = [ids[:-1] for ids in distinct]
    work = plan_work(encoded.ids, encoded.bounds, overflow.window, overflow.stride)
    group = texts[np.searchsorted(encoded.bounds, work.start, side="right") - 1]
    lengths, scored = work.stop - work.start - 1, work.stop - work.first
    parts = []
    for number, head in enumerate(heads):
        items = np.flatnonzero(group == number)
        # Each row of a batch carries its own copy of the prefix's keys and values, a layer long.
        share = 1 + len(head) / 4 / max(1.0, lengths[items].mean()) if len(items) else 1
        batches = plan_batches(
            lengths[items], replace(budget, batch=max(budget.early, int(budget.batch / share)))
        )
        batches = [items[batch] for batch in batches]
        parts += plan_parts(batches, scored, budget, number)
    return Plan(encoded, work, parts, heads)
