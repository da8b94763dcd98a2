"""A split by checkpoint that others drew and published: Parquet files of token ids per split.

The authors of CheckMIABench published theirs (``jeffreygwang/pythia_dedupe_mia_…``): splits
`member` and `nonmember`, columns `tokens` and `text`. Their code learns on the first rows of a
split and judges on those that follow; so does this. No steps: theirs are known to be wrong.
"""

from pathlib import Path

from scripts.checkpoints.drawn import table
from scripts.checkpoints.origins import hub
from scripts.checkpoints.published import split
from scripts.sources.checkpoint import LOCK, tokenizer
from scripts.sources.loaded import Loaded


def load(inputs: list[Path], settings: dict) -> Loaded:
    """The dataset that `settings` (its entry, with the family's as `family_entry`) describes."""
    place = hub(LOCK)(settings["id"])
    decode, digest = tokenizer(settings["family_entry"])
    texts, aside = (
        table(drawn, settings["tokens"], decode).drop_columns(["step"])
        for drawn in split(place, settings["family_entry"], settings)
    )
    provenance = {"family": settings["family"], "files": [place.name], "tokenizer": digest}
    return Loaded(texts, aside, provenance)
