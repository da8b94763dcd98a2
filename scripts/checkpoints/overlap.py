"""How many texts after a checkpoint have a long piece in common with texts before it.

A row after the checkpoint was not trained before it, but its documents may have been, in other
rows. Each window of 64 tokens of the members is hashed, and the windows of the non-members are
looked up. If all documents of two epochs were shuffled together, a document of a non-member has its
other copy among the members with the probability that the sample covers it; if one epoch followed
the other, there would be hardly any match.

In: texts and rows aside of a checkpoint's dataset, all of them compared. Out: one JSON file.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.seeds import derive

WINDOW = 64  # tokens
DISTINCT = 16  # a window of fewer different tokens is padding, a table or a list: no evidence
_ODD = np.uint64(0x9E3779B97F4A7C15)  # any odd number has an inverse modulo 2^64
_INVERSE = np.uint64(pow(int(_ODD), -1, 1 << 64))


def hashes(ids: np.ndarray, codes: np.ndarray, window: int = WINDOW) -> np.ndarray:
    """A 64-bit hash of each window of `ids`, uint64 [tokens - window + 1].

    The polynomial sum of ``codes[id]`` modulo 2^64, by differences of one cumulative sum; `codes`
    holds a random number per id. Equal windows have equal hashes, wherever they stand.
    """
    if len(ids) < window:
        return np.zeros(0, np.uint64)
    up = _powers(_ODD, len(ids))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes[ids] * up)])
    return (sums[window:] - sums[:-window]) * _powers(_INVERSE, len(ids))[: len(ids) - window + 1]


def _powers(base: np.uint64, count: int) -> np.ndarray:
    powers = np.full(count, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers)


def rich(ids: np.ndarray, window: int = WINDOW, distinct: int = DISTINCT) -> np.ndarray:
    """Which windows hold at least `distinct` different ids, bool [tokens - window + 1]."""
    views = np.sort(np.lib.stride_tricks.sliding_window_view(ids, window), axis=1)
    return 1 + (np.diff(views, axis=1) != 0).sum(axis=1) >= distinct


def overlap(
    members: list[np.ndarray], nonmembers: list[np.ndarray], vocabulary: int, seed: int
) -> list[dict]:
    """The non-members that share a window with a member: their number, the member's, and how many
    of their windows are shared.
    """
    codes = np.random.default_rng(seed).integers(0, 1 << 64, vocabulary, np.uint64)
    known = [hashes(ids, codes) for ids in members]
    owner = np.repeat(np.arange(len(known)), [len(found) for found in known])
    flat = np.concatenate([np.zeros(0, np.uint64), *known])
    order = np.argsort(flat, kind="stable")
    flat, owner = flat[order], owner[order]
    matches = []
    for number, ids in enumerate(nonmembers):
        own = hashes(ids, codes)
        at = np.minimum(np.searchsorted(flat, own), max(len(flat) - 1, 0))
        shared = flat[at] == own if len(flat) else np.zeros(len(own), bool)
        if shared.any():
            shared &= rich(ids)
        if shared.any():
            first = int(owner[at[shared][0]])
            matches.append({"nonmember": number, "member": first, "windows": int(shared.sum())})
    return matches


def expected(members: int, nonmembers: int, family: Mapping) -> float:
    """Matching documents to expect under a joint shuffle of two epochs.

    Each of the non-members' documents has one other copy, somewhere in the pool of `pool` rows; it
    is met if that is one of the members drawn.
    """
    entry = family["documents"]
    return members * nonmembers * entry["per_row"] / entry["pool"]


def _ids(tables: list[pa.Table], label: int) -> tuple[list[str], list[np.ndarray]]:
    found = pa.concat_tables(tables)
    found = found.filter(pa.array(np.asarray(found["label"]) == label))
    ids = [np.array(one.as_py(), np.int64) for one in found["token_ids"]]
    return found["text_id"].to_pylist(), ids


def main() -> None:
    """Step: settings dataset, seed and the family's entry."""
    args = arguments(__doc__, ["texts", "aside", "overlap"])
    columns = ["text_id", "label", "token_ids"]
    tables = [TEXTS.read(path, columns) for path in (args.texts, args.aside)]
    member_ids, members = _ids(tables, 1)
    nonmember_ids, nonmembers = _ids(tables, 0)
    settings, family = args.settings, args.settings["family_entry"]
    if not members or not nonmembers:
        raise UserError(f"dataset {settings['dataset']}: it has texts of one class only")
    found = overlap(
        members,
        nonmembers,
        family["vocabulary"],
        derive(settings["seed"], "overlap", settings["dataset"]),
    )
    report = {
        "dataset": settings["dataset"],
        "window": WINDOW,
        "members": len(members),
        "nonmembers": len(nonmembers),
        "matching_nonmembers": len(found),
        "expected_if_epochs_were_shuffled_together": None,
        "matches": [
            {
                "nonmember": nonmember_ids[match["nonmember"]],
                "member": member_ids[match["member"]],
                "windows": match["windows"],
            }
            for match in found
        ],
    }
    if {"pool", "per_row"} <= set(family.get("documents", {})):
        report["expected_if_epochs_were_shuffled_together"] = round(
            expected(len(members), len(nonmembers), family), 3
        )
    with replacing(Path(args.overlap)) as temporary:
        temporary.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(
        f"{settings['dataset']}: {len(found)} of {len(nonmembers)} non-members share "
        f"{WINDOW} tokens or more with one of {len(members)} members; expected if all epochs' "
        f"documents were shuffled together: {report['expected_if_epochs_were_shuffled_together']}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    run(main)
