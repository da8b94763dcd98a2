"""Training sequences of a published model before and after one of its checkpoints.

Only the rows that are drawn are read, by byte ranges. What they are is decided by
scripts.checkpoints; this module opens the files and the tokenizer.
"""

import hashlib
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from scripts.checkpoints.documents import Documents
from scripts.checkpoints.drawn import Decode, sequences, table
from scripts.checkpoints.exposure import documents
from scripts.checkpoints.origins import hub
from scripts.checkpoints.rows import open_rows
from scripts.hub.cache import fetch
from scripts.hub.client import Repo
from scripts.hub.pin import pin
from scripts.sources.loaded import Loaded

LOCK = Path("config/hub.lock.yaml")  # in the working directory, as for models


def load(inputs: list[Path], settings: dict) -> Loaded:
    """The dataset that `settings` (its entry, with the family's as `family_entry`) describes.

    `inputs` is empty or holds what scripts.checkpoints.count (policy `exposure`) or
    scripts.checkpoints.permute (an order to be rebuilt) wrote.
    """
    family = settings["family_entry"]
    places = hub(LOCK)
    used: dict[str, None] = {}

    def opened(place: str):
        used[places(place).name] = None
        return places(place)

    order = inputs[0] if inputs else None
    if settings["policy"] == "exposure":
        seen = np.load(order, mmap_mode="r")
        texts, aside = documents(seen, Documents(family, opened), family, settings)
    else:
        texts, aside = sequences(open_rows(family, opened, order), family, settings)
    decode, digest = tokenizer(family)
    return Loaded(
        texts=table(texts, settings["tokens"], decode),
        aside=table(aside, settings["tokens"], decode),
        provenance={
            "family": settings["family"],
            "files": list(used),
            "tokenizer": digest,
            "step": settings["step"],
            "policy": settings["policy"],
            "reading": settings["reading"],
        },
    )


def tokenizer(family: dict) -> tuple[Decode, str]:
    """Ids to texts, special tokens as text, and the sha256 of the tokenizer's file."""
    repo = Repo("model", family["tokenizer"])
    path = fetch(repo, pin(LOCK, repo, "main"), ["tokenizer.json"])["tokenizer.json"]
    content = path.read_bytes()
    own = Tokenizer.from_buffer(content)
    return (
        lambda ids: own.decode_batch(ids, skip_special_tokens=False),
        hashlib.sha256(content).hexdigest(),
    )
