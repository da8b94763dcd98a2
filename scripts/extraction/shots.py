"""What each text is read behind (ReCaLL): shots joined, as many as the context has room for."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from scripts.errors import UserError
from scripts.extraction.encoding import Encoded
from scripts.extraction.overflow import Overflow


class Fitted(NamedTuple):
    """Distinct prefixes as token ids, which one each text is read behind, and its shots there."""

    prefixes: list[np.ndarray]
    of_text: np.ndarray  # int64 [texts]
    shots: np.ndarray  # int64 [texts]

    def texts_by_shots(self) -> dict[str, int]:
        """How many texts are read behind how many shots."""
        return {str(n): int(count) for n, count in enumerate(np.bincount(self.shots)) if count}


def fit_prefixes(
    tokenizer: Tokenizer,
    shots: Sequence[Sequence[str]],
    lengths: np.ndarray,
    context: int | None,
) -> Fitted:
    """What each text is read behind.

    A prefix is a text's shots joined, with the special tokens that the tokenizer puts in front.
    Where prefix and text exceed the context, whole shots go, the first ones first.
    """
    encoded: dict[tuple[str, ...], np.ndarray] = {}
    number: dict[tuple[str, ...], int] = {}
    of_text, left = np.zeros(len(shots), np.int64), np.zeros(len(shots), np.int64)
    for row, (own, length) in enumerate(zip(shots, lengths.tolist(), strict=True)):
        for dropped in range(len(own)):
            kept = tuple(own[dropped:])
            if kept not in encoded:
                ids = tokenizer.encode("".join(kept)).ids
                encoded[kept] = np.asarray(ids, np.int64)
            # The text's last token is predicted but never read.
            if context is None or len(encoded[kept]) + length - 1 <= context:
                break
        else:
            raise UserError(
                f"row {row}: its {length} tokens leave no room for one shot of its prefix in a "
                f"context of {context}; cut the texts (overflow: {{truncate: tokens}})"
            )
        of_text[row] = number.setdefault(kept, len(number))
        left[row] = len(kept)
    return Fitted([encoded[kept] for kept in number], of_text, left)


def fitted_prefixes(
    texts: pa.Table,
    encoded: Encoded,
    tokenizer: Tokenizer,
    overflow: Overflow,
    context: int | None,
    log: Callable[[str], None],
) -> Fitted | None:
    """The prefixes of texts (contract TEXTS) that are read behind one; else None."""
    if "prefix" not in texts.column_names:
        return None
    if overflow.window is not None:
        raise UserError("overflow: window cannot be used on texts with a prefix; choose truncate")
    lengths = np.diff(encoded.truncate(overflow.limit).bounds)
    shots = texts["prefix"].to_pylist()
    fitted = fit_prefixes(tokenizer, shots, lengths, context)
    wanted = max(map(len, shots))
    if fitted.shots.min() < wanted:
        log(f"{int((fitted.shots < wanted).sum())} of {len(texts)} texts have fewer shots")
    return fitted
