"""Texts to token ids with character offsets: given ids as they are, else by the fast tokenizer."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from scripts.errors import UserError
from scripts.extraction.offsets import Offsets


@dataclass(frozen=True)
class Encoded:
    """Flat token ids and character offsets of all texts; text i is bounds[i]:bounds[i + 1]."""

    ids: np.ndarray  # int64 [tokens]
    start: np.ndarray  # int32 [tokens], characters
    end: np.ndarray
    bounds: np.ndarray  # int64 [texts + 1]

    def truncate(self, limit: int | None) -> "Encoded":
        """The first `limit` tokens of each text; all where it is None."""
        lengths = np.diff(self.bounds)
        if limit is None or not len(lengths) or lengths.max() <= limit:
            return self
        position = np.arange(len(self.ids)) - np.repeat(self.bounds[:-1], lengths)
        keep = position < limit
        bounds = np.concatenate([[0], np.cumsum(np.minimum(lengths, limit))])
        return Encoded(self.ids[keep], self.start[keep], self.end[keep], bounds)

    def prepend(self, first: np.ndarray) -> "Encoded":
        """Put token `first[i]`, which stands at no character, before text i."""
        at = self.bounds[:-1]
        bounds = self.bounds + np.arange(len(self.bounds))
        zero = np.zeros(len(first), np.int32)
        return Encoded(
            np.insert(self.ids, at, first),
            np.insert(self.start, at, zero),
            np.insert(self.end, at, zero),
            bounds,
        )

    def take(self, rows: np.ndarray) -> "Encoded":
        """The texts `rows` alone."""
        lengths = np.diff(self.bounds)[rows]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        flat = np.arange(bounds[-1]) + np.repeat(self.bounds[:-1][rows] - bounds[:-1], lengths)
        return Encoded(self.ids[flat], self.start[flat], self.end[flat], bounds)


def load_tokenizer(model: Path) -> tuple[Tokenizer, str]:
    """The fast tokenizer of a model folder and the sha256 of its file.

    The file's own pipeline is what counts, special tokens included: transformers 5 rebuilds some
    tokenizers (GPT-NeoX) with a normalizer that the file does not have.
    """
    path = model / "tokenizer.json"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(
            f"{model} has no tokenizer.json: a fast tokenizer is needed for character offsets; "
            "convert the slow one with transformers' AutoTokenizer.save_pretrained"
        ) from None
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises plain Exception
        raise UserError(f"{path} is not a tokenizer ({error}); fetch it again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, hashlib.sha256(content).hexdigest()


def encode(tokenizer: Tokenizer, texts: pa.Table, special: bool = True) -> Encoded:
    """Token ids and offsets of `texts` (contract TEXTS), in its order; `special` tokens as the
    tokenizer adds them, or none.

    Rows with `token_ids` are taken as they are; UserError where their text is not what the ids
    decode to, because keyword spans would then point at the wrong tokens.
    """
    given = [None] * len(texts)
    if "token_ids" in texts.column_names:
        given = texts["token_ids"].to_pylist()
    strings = texts["text"].to_pylist()
    rest = [i for i, ids in enumerate(given) if ids is None]
    encodings = tokenizer.encode_batch([strings[i] for i in rest], add_special_tokens=special)
    by_row = dict(zip(rest, map(_from_encoding, encodings), strict=True))
    offsets = Offsets(tokenizer) if len(rest) < len(given) else None
    for row, ids in enumerate(given):
        if ids is None:
            continue
        found = offsets.find(ids, strings[row])
        if found is None:
            name = texts["text_id"][row].as_py()
            raise UserError(
                f"text {name} (row {row}): its text is not what its token_ids decode to with this "
                "model's tokenizer.json; decode the ids again with it, or drop the ids"
            )
        by_row[row] = (np.asarray(ids, np.int64), *found)
    columns = [by_row[row] for row in range(len(given))]
    lengths = [len(column[0]) for column in columns]
    empty = np.zeros(0, np.int64)
    ids, start, end = (
        np.concatenate([empty, *(column[which] for column in columns)]) for which in range(3)
    )
    bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Encoded(ids, start.astype(np.int32), end.astype(np.int32), bounds)


def _from_encoding(encoding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ids = np.asarray(encoding.ids, np.int64)
    spans = np.asarray(encoding.offsets, np.int64).reshape(-1, 2)
    special = np.asarray(encoding.special_tokens_mask, bool)
    # Special tokens stand at no character; where they follow text, put them at its end, so that
    # offsets never fall.
    end = np.maximum.accumulate(np.where(special, 0, spans[:, 1]))
    start = np.where(special, end, spans[:, 0])
    return ids, start, end
