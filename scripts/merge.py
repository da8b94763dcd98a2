"""Put the shards of a pass together, in the order of the texts.

In: texts and any number of token files that hold each text once. Out: contract TOKENS.
"""

import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import TOKENS
from scripts.extraction.order import in_order


def main() -> None:
    """Merge shards; with one shard, the file is the same as without any."""
    args = arguments(__doc__, ["texts", "tokens"], many=["parts"])
    footers = [provenance(path) for path in args.parts]
    table = pa.concat_tables(TOKENS.read(path) for path in args.parts)
    order = TEXTS.read(args.texts, ["text_id"])["text_id"].to_pylist()
    TOKENS.write(
        args.tokens,
        in_order(table, order),
        {**footers[0], "truncated": sum(footer["truncated"] for footer in footers)},
    )


if __name__ == "__main__":
    run(main)
