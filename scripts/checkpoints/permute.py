"""Rebuild the order of a family whose training shuffled all instances with a seed (OLMo).

The number of instances comes from the sizes of the token files. For OLMo-7B (934 million) it takes
about two minutes and 4 GB of memory. Settings: the family's entry. Writes a ``.npy``, uint32.
"""

import numpy as np

from scripts.atomic import replacing
from scripts.checkpoints.instances import listed, permutation
from scripts.checkpoints.origins import hub
from scripts.cli import arguments, run


def main() -> None:
    """Step: see the module's docstring."""
    args = arguments(__doc__, ["lock", "order"])
    family = args.settings["family_entry"]
    _, sizes = listed(family["rows"], hub(args.lock))
    total = sum(size // (2 * family["row"]) for size in sizes.values())
    with replacing(args.order) as temporary, temporary.open("wb") as file:
        np.save(file, permutation(total, family["rows"]["order"]["seed"]))


if __name__ == "__main__":
    run(main)
