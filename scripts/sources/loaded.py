"""What a source of texts gives back."""

from dataclasses import dataclass, field

import pyarrow as pa


@dataclass(frozen=True)
class Loaded:
    """Texts to evaluate and rows that never are, both tables TEXTS, and where they come from."""

    texts: pa.Table
    aside: pa.Table
    provenance: dict = field(default_factory=dict)
