"""What the rows of a checkpoint's dataset cost, at most: those of an earlier draw are kept."""

from collections.abc import Mapping

from scripts.hub.client import Repo, access
from scripts.hub.cost import Cost

# Requests and bytes of a row beside its tokens: numbers are read twice, in requests of their own.
# `samples`: one of three maps each, about three documents, their lengths, places and tokens.
_OF_A_ROW = {"shards": (1, 0), "samples": (24, 100), "instances": (3, 8), "lines": (1, 0)}
_OF_A_DOCUMENT = (3, 16)


def cost(name: str, entry: Mapping, pins: Mapping[str, str]) -> Cost:
    """Bytes and requests of all rows, from the sizes in the family's entry; nothing is asked for
    but access to its repositories.
    """
    family = entry["family_entry"]
    kind = "document" if entry["policy"] == "exposure" else family["rows"]["kind"]
    rows = entry["members"] + entry["nonmembers"] + 2 * entry["aside"]
    places = [family["documents"]] if kind == "document" else [family["rows"]]
    if kind == "samples":
        places.append(family["documents"])
    gated = [access(Repo("dataset", place["repo"])) for place in places if "repo" in place]
    note = f"{rows:,} rows; those that were drawn before are kept and cost nothing"
    if kind == "parquet":  # whole row groups, whose size no listing tells
        return Cost(name, None, None, None, None, "; ".join(filter(None, gated)), note)
    requests, beside = _OF_A_DOCUMENT if kind == "document" else _OF_A_ROW[kind]
    size = 2 * (entry["tokens"] if kind == "document" else family["row"])
    if kind == "lines":
        size = 2 * family["rows"]["line"]
    if kind == "document":
        note += "; and once the lengths of all documents (4 bytes each) for the training order"
    return Cost(
        name=name,
        files=None,
        bytes=rows * (size + beside),
        cached_bytes=None,
        requests=rows * requests,
        gated="; ".join(filter(None, gated)),
        note=note,
    )
