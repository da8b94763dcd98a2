"""Put the shards of a pass together."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from scripts.contracts.table import provenance
from scripts.contracts.tokens import TOKENS
from scripts.extraction.order import in_order


def merge(parts: Sequence[Path], text_ids: Sequence[str], tokens: Path) -> None:
    """Write the rows of `parts` to `tokens` in the order of `text_ids`.

    Their number is noted beside them: a finished pass keeps the shards it was made from.
    """
    footers = [provenance(path) for path in parts]
    shots = sum((Counter(footer.get("shots")) for footer in footers), Counter())
    table = pa.concat_tables(TOKENS.read(path) for path in parts)
    TOKENS.write(
        tokens,
        in_order(table, text_ids),
        {
            **footers[0],
            "truncated": sum(footer["truncated"] for footer in footers),
            **({"shots": shots} if shots else {}),
        },
    )
    (parts[0].parent / "merged").write_text(str(len(parts)))
