"""Families of published models (config/families.yaml) and the datasets drawn from their rows."""

from collections.abc import Mapping
from pathlib import Path

from scripts.errors import UserError
from scripts.planning.config import check, nearest

KINDS = ("shards", "samples", "instances", "parquet", "lines")
DRAWN = ("checkpoint", "published")  # sources of datasets that name a family


def check_family(entry: Mapping, schema: Path, at: str) -> dict:
    """An entry of config/families.yaml, with the keys that its kind of rows has."""
    entry = check(entry, "family", schema, at)
    kind = entry["rows"].get("kind")
    if kind not in KINDS:
        raise UserError(f"{at}.rows.kind: '{kind}' is not valid{nearest(kind, KINDS)}")
    rows = check(entry["rows"], f"rows_{kind}", schema, f"{at}.rows")
    if "documents" in entry:
        check(entry["documents"], "family_documents", schema, f"{at}.documents")
    if kind == "samples" and "documents" not in entry:
        raise UserError(f"{at}: rows of kind 'samples' are put together from `documents`")
    if kind == "instances" and ("repo" in rows) == ("url" in rows):
        raise UserError(f"{at}.rows: give `repo` or `url`")
    if kind != "lines" and "batch" not in entry:
        raise UserError(f"{at}: the key 'batch' is missing")
    for key, most in (("tokens", entry["row"]), ("until", entry["steps"])):
        if entry[key] > most:
            raise UserError(f"{at}.{key}: {entry[key]} is more than {most}")
    return {**entry, "rows": rows}


def check_drawn(entry: Mapping, families: Mapping[str, dict], at: str) -> dict:
    """A dataset entry of source `checkpoint` or `published`, complete and with its family's entry.

    Raises UserError where the family lacks what the entry asks for.
    """
    if entry["family"] not in families:
        raise UserError(f"{at}.family: no '{entry['family']}'{nearest(entry['family'], families)}")
    family = families[entry["family"]]
    entry = {"tokens": family["tokens"], **entry}
    described = {key: value for key, value in family.items() if key != "title"}
    if entry["source"] == "checkpoint":
        entry = {"until": family["until"], **entry}
        _check_steps(entry, family, at)
        if entry["policy"] != "exposure" and entry["tokens"] > family["row"]:
            raise UserError(f"{at}.tokens: a row has only {family['row']}")
    return {**entry, "family_entry": described}


def _check_steps(entry: Mapping, family: Mapping, at: str) -> None:
    policy, step, until = entry["policy"], entry["step"], entry["until"]
    if until > family["until"]:
        raise UserError(
            f"{at}.until: the family can be trusted up to step {family['until']} only (its `until` "
            "in config/families.yaml)"
        )
    last = family["steps"] if policy == "held_out" else until - 1
    if policy != "exposure" and not 0 < step - entry["gap"] <= step + entry["gap"] <= last:
        raise UserError(f"{at}.step: {step} leaves no step before it, or none up to {last}")
    for key in ("window", "gap", "reading", "run"):
        if policy == "exposure" and entry.get(key) not in (None, 0, "paper", 1):
            raise UserError(f"{at}.{key}: documents of the policy 'exposure' have none")
    if entry["reading"] == "released" and (
        policy != "sequence"
        or entry["gap"]
        or "window" in entry
        or family["rows"]["kind"] == "lines"
    ):
        raise UserError(f"{at}.reading: 'released' has windows of its own: no `window`, no `gap`")
    if "exposures" in entry and policy != "exposure":
        raise UserError(f"{at}.exposures: only documents of the policy 'exposure' have them")
    if policy == "exposure" and not {"samples", "seed"} <= set(family.get("documents", {})):
        raise UserError(
            f"{at}.policy: 'exposure' needs `documents` with `samples` and `seed` in the family"
        )
