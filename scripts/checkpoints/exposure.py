"""Documents that a checkpoint never saw against documents that it saw, from the rebuilt order.

The label of a row says nothing of its documents: where two epochs were shuffled together, half of
them were read before, in another row. Here a text is the beginning of a document; a non-member is a
document of which no token was read before the checkpoint, a member one that was read whole.

Long documents are seldom read whole, and even more seldom not at all. So for each non-member a
member is drawn of about the same length: length tells nothing.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from scripts.checkpoints.documents import Documents
from scripts.checkpoints.drawn import Drawn, in_order
from scripts.checkpoints.neox import exposures, rebuild
from scripts.checkpoints.rows import Row
from scripts.errors import UserError
from scripts.seeds import generator

SEEN = np.dtype([("size", "<i4"), ("exposures", "i1"), ("position", "<u4")])  # per document


def seen(sizes: np.ndarray, family: Mapping, step: int) -> np.ndarray:
    """What each document of `sizes` tokens went through before `step`, dtype SEEN [documents]."""
    entry = family["documents"]
    order = rebuild(sizes, family["row"] - 1, entry["samples"], entry["seed"])
    counts, positions = exposures(order, sizes, step * family["batch"])
    found = np.empty(len(sizes), SEEN)
    found["size"], found["exposures"], found["position"] = sizes, counts, positions
    return found


def documents(
    found: np.ndarray, corpus: Documents, family: Mapping, settings: Mapping
) -> tuple[list[Drawn], list[Drawn]]:
    """Texts and rows aside; `found` is what scripts.checkpoints.count wrote (dtype SEEN)."""
    aside, tokens, name = settings["aside"], settings["tokens"], settings["dataset"]
    if settings["members"] != settings["nonmembers"]:
        raise UserError(
            f"dataset {name}: `members` is {settings['members']} and `nonmembers` "
            f"{settings['nonmembers']}: they are paired by length, so give the same number"
        )
    numbers = choose(found, tokens, aside + settings["nonmembers"], settings)
    chosen = np.concatenate(numbers)
    ids = corpus.read([[(int(d), 0, tokens)] for d in chosen])
    drawn = [_drawn(int(d), row, found[d], family) for d, row in zip(chosen, ids, strict=True)]
    members, nonmembers = drawn[: len(numbers[0])], drawn[len(numbers[0]) :]
    return (
        in_order([*members[aside:], *nonmembers[aside:]]),
        in_order([*members[:aside], *nonmembers[:aside]]),
    )


def choose(
    found: np.ndarray, tokens: int, wanted: int, settings: Mapping
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of `wanted` documents of at least `tokens` tokens that were seen, and of as many that
    were not, pairwise of the same length up to an eighth of `tokens`.

    Seen means at least once, or exactly `exposures` times where the settings say so.
    """
    name, seed = settings["dataset"], settings["seed"]
    long = found["size"] >= tokens
    unseen = np.flatnonzero(long & (found["exposures"] == 0))
    rng = generator(seed, "checkpoint", name, "nonmembers")
    nonmembers = rng.permutation(unseen)[:wanted]
    times = settings.get("exposures")
    read = found["exposures"] >= 1 if times is None else found["exposures"] == times
    eligible = np.flatnonzero(long & read)
    width = max(1, tokens // 8)
    bins = found["size"][eligible] // width
    classes = found["size"][nonmembers] // width
    pools = {
        kind: generator(seed, "checkpoint", name, "members", str(kind)).permutation(
            eligible[bins == kind]
        )
        for kind in np.unique(classes)
    }
    used: Counter[int] = Counter()
    members = []
    for kind in classes:
        if used[kind] < len(pools[kind]):
            members.append(pools[kind][used[kind]])
            used[kind] += 1
    if len(nonmembers) < wanted or len(members) < wanted:
        raise UserError(
            f"dataset {name}: {wanted} documents a class wanted, rows aside included, but only "
            f"{len(nonmembers)} of at least {tokens} tokens were never seen and {len(members)} of "
            "the same lengths were seen; lower `members`, `nonmembers` or `tokens`"
        )
    return np.array(members), nonmembers


def _drawn(document: int, ids: np.ndarray, seen: np.void, family: Mapping) -> Drawn:
    times = int(seen["exposures"])
    step = int(seen["position"]) // family["batch"]
    name = f"document{document}"
    return Drawn(name, Row(document, ids, name), int(times > 0), step, times)
