"""The order in which gpt-neox trained the Pythia suite, rebuilt from document lengths and a seed.

Source: gpt-neox at commit d36f623, ``megatron/data/gpt2_dataset.py`` and ``data_utils.py``. All
documents of all epochs are shuffled together, joined, and cut into samples of L tokens (and one
more, which is only a label); all samples are shuffled once more. So a document's second copy can
come long before the first epoch's worth of tokens is over.

The legacy RandomState gives the same permutation for any dtype, so 32-bit numbers do. At the Pile's
size (134 million documents, 2 epochs, 202 million samples) `exposures` needs about 10 GB.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

NEVER = np.iinfo(np.uint32).max
_CHUNK = 1 << 22  # copies at a time


@dataclass(frozen=True)
class Order:
    """A training order. `documents` are copies in the order in which they are joined; position p
    of the training reads sample ``samples[p]``.
    """

    documents: np.ndarray  # int32 [epochs x documents]
    samples: np.ndarray  # uint32 [samples]
    length: int  # tokens that a sample predicts; it holds one more


def epochs_for(tokens: int, length: int, wanted: int) -> int:
    """The smallest number of epochs whose `tokens` each make `wanted` samples."""
    epochs = 1
    while (epochs * tokens - 1) // length < wanted:
        epochs += 1
    return epochs


def rebuild(sizes: np.ndarray, length: int, wanted: int, seed: int) -> Order:
    """The order for documents of `sizes` tokens (int32), `wanted` samples of `length` tokens."""
    tokens = int(sizes.sum(dtype=np.int64))
    epochs = epochs_for(tokens, length, wanted)
    documents = np.tile(np.arange(len(sizes), dtype=np.int32), epochs)
    rng = np.random.RandomState(seed)
    rng.shuffle(documents)
    samples = np.arange((epochs * tokens - 1) // length, dtype=np.uint32)
    rng.shuffle(samples)  # the same stream goes on
    return Order(documents, samples, length)


def pieces(order: Order, sizes: np.ndarray, position: int) -> list[tuple[int, int, int]]:
    """What a position reads: (document, first token, last token (without it)) each."""
    ends = np.cumsum(sizes[order.documents], dtype=np.int64)
    start = int(order.samples[position]) * order.length
    stop = start + order.length + 1
    found = []
    copy = int(np.searchsorted(ends, start, side="right"))
    while start < stop:
        begin = int(ends[copy] - sizes[order.documents[copy]])
        last = min(stop, int(ends[copy]))
        if last > start:
            found.append((int(order.documents[copy]), start - begin, last - begin))
        start, copy = last, copy + 1
    return found


def exposures(order: Order, sizes: np.ndarray, trained: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each document was trained in the first `trained` positions, and where last.

    Counts (int8 [documents]) are of copies all of whose samples were read; -1 where the copies were
    read in part only. Positions (uint32 [documents]) are the last one before `trained` that read a
    token of the document or, for a document that none read, the first one that will; NEVER for what
    no position reads.
    """
    total = len(order.samples)
    place = np.full(total + 2, NEVER, dtype=np.uint32)  # the incomplete end, and a sentinel
    place[order.samples] = np.arange(total, dtype=np.uint32)
    before = np.where(place < trained, place + np.uint32(1), np.uint32(0))
    seen = np.zeros(total + 3, dtype=np.int32)
    np.cumsum(before > 0, out=seen[1:])
    counts = np.zeros(len(sizes), dtype=np.int8)
    partly = np.zeros(len(sizes), dtype=bool)
    last = np.zeros(len(sizes), dtype=np.uint32)  # and one more: 0 is none
    first = np.full(len(sizes), NEVER, dtype=np.uint32)
    for documents, low, high in _covered(order, sizes):
        read = seen[high + 1] - seen[low]
        whole = read == high + 1 - low
        np.add.at(counts, documents[whole], 1)
        partly[documents[(read > 0) & ~whole]] = True
        pairs = np.column_stack([low, high + 1]).ravel()
        np.maximum.at(last, documents, np.maximum.reduceat(before, pairs)[::2])
        np.minimum.at(first, documents, np.minimum.reduceat(place, pairs)[::2])
    counts[partly & (counts == 0)] = -1
    return counts, np.where(last > 0, last - np.uint32(1), first)


def _covered(
    order: Order, sizes: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Documents of the copies, and the first and last sample that hold tokens of each; in chunks.

    A sample's last token is also the first one of the next sample.
    """
    total = len(order.samples)
    begin = 0
    for chunk in range(0, len(order.documents), _CHUNK):
        documents = order.documents[chunk : chunk + _CHUNK]
        documents = documents[sizes[documents] > 0]
        ends = begin + np.cumsum(sizes[documents], dtype=np.int64)
        starts = ends - sizes[documents]
        low = np.maximum(starts - 1, 0) // order.length
        high = (ends - 1) // order.length
        # The very last token that a sample holds is the first of one that does not exist.
        high[ends - 1 == total * order.length] = total - 1
        yield documents, np.minimum(low, total), high
        begin = int(ends[-1]) if len(ends) else begin
