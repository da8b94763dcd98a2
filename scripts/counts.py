"""Count the tokens of a dataset's rows aside, with a model's own tokenizer.

In: a model folder, the rows aside (contract TEXTS). Out: contract COUNTS.
"""

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.extras import COUNTS
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.extraction.encoding import encode, load_tokenizer


def main() -> None:
    """Count the tokens of one dataset's rows aside."""
    args = arguments(__doc__, ["model", "aside", "counts"])
    aside = TEXTS.read(args.aside)
    if not len(aside):
        raise UserError(
            f"dataset {args.settings['dataset']} has no rows aside to count tokens in; give its "
            "entry a file of further texts (`aside`), or leave out the attacks that need counts"
        )
    tokenizer, digest = load_tokenizer(args.model)
    counts = np.bincount(encode(tokenizer, aside).ids, minlength=tokenizer.get_vocab_size())
    seen = np.flatnonzero(counts)
    COUNTS.write(
        args.counts,
        pa.table({"token_id": seen.astype(np.int32), "count": counts[seen].astype(np.int64)}),
        {
            **args.settings,
            "vocabulary": len(counts),
            "tokenizer": digest,
            "aside": provenance(args.aside),
        },
    )


if __name__ == "__main__":
    run(main)
