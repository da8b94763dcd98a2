"""Every random draw derives from the one configured seed, its purpose and the dataset."""

import hashlib

import numpy as np


def derive(seed: int, *purpose: str) -> int:
    """A 63-bit seed for one purpose, the same on every machine.

    `purpose` names what is drawn and for which dataset, e.g. ``derive(1234, "bootstrap", "lab")``.
    """
    digest = hashlib.sha256("\0".join([str(seed), *purpose]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """A numpy generator seeded by `derive`."""
    return np.random.default_rng(derive(seed, *purpose))
