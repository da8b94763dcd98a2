"""Synthetic training data on a local hub, in the formats of the published ones, for tests."""

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE

from scripts.checkpoints.files import Open
from scripts.checkpoints.origins import hub as open_hub
from scripts.extraction.offsets import _alphabet
from tests.hub import Hub

ROW = 33  # tokens stored of a row
VOCABULARY = 256
BATCH = 10


def index(path: Path, lengths: np.ndarray, dtype_code: int = 8) -> None:
    """A Megatron index of sequences of uint16 tokens, written by the format's description."""
    places = np.concatenate([[0], np.cumsum(2 * lengths.astype(np.int64))[:-1]])
    content = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, dtype_code, len(lengths), len(lengths))
    content += lengths.astype("<i4").tobytes() + places.astype("<i8").tobytes()
    path.write_bytes(content + np.arange(len(lengths), dtype="<i8").tobytes())


def shards(folder: Path, name: str, tokens: np.ndarray, cuts: list[int]) -> None:
    """Raw uint16 tokens, cut into files at these bytes."""
    content = tokens.astype("<u2").tobytes()
    ends = [0, *cuts, len(content)]
    for number, (start, stop) in enumerate(zip(ends, ends[1:], strict=False)):
        (folder / name.format(number)).write_bytes(content[start:stop])


def rows(count: int, seed: int = 0) -> np.ndarray:
    """Random rows, uint16 [count, ROW], all different."""
    return np.random.default_rng(seed).integers(0, VOCABULARY, (count, ROW)).astype(np.uint16)


def tokenizer(hub: Hub) -> Path:
    """A tokenizer with one token per byte, as the model repository `toy/tokenizer`."""
    characters = {byte: character for character, byte in _alphabet().items()}
    own = Tokenizer(BPE(vocab={characters[byte]: byte for byte in range(256)}, merges=[]))
    own.decoder = decoders.ByteLevel()
    path = hub.revision("models", "toy/tokenizer") / "tokenizer.json"
    own.save(str(path))
    return path


def preshuffled(hub: Hub, found: np.ndarray) -> dict:
    """Rows in training order as `toy/preshuffled`, cut so that rows lie across borders; the family."""
    folder = hub.revision("datasets", "toy/preshuffled")
    index(folder / "document.idx", np.full(len(found), ROW))
    size, row = 2 * found.size, 2 * ROW
    # Inside a row, at a row's border, and in the middle of a token.
    cuts = [row * 7 + 10, row * 100, row * (len(found) // 2) + 31, size - row - 4]
    shards(folder, "document-{:05d}-of-00004.bin", found, cuts)
    return {
        "rows": {
            "kind": "shards",
            "repo": "toy/preshuffled",
            "files": "document-*.bin",
            "index": "document.idx",
        },
        "batch": BATCH,
        "row": ROW,
        "tokens": ROW - 1,
        "steps": len(found) // BATCH,
        "until": len(found) // BATCH,
        "vocabulary": VOCABULARY,
        "tokenizer": "toy/tokenizer",
    }


def corpus(hub: Hub, documents: list[np.ndarray]) -> dict:
    """Documents as `toy/documents` in two shards; the family's `documents`."""
    folder = hub.revision("datasets", "toy/documents")
    index(folder / "text_document.idx", np.array([len(d) for d in documents]))
    joined = np.concatenate(documents)
    shards(folder, "text_document-{:05d}-of-00001.bin", joined, [len(joined) + 1])
    return {
        "repo": "toy/documents",
        "files": "text_document-*.bin",
        "index": "text_document.idx",
        "seed": 1234,
    }


def opener(tmp_path: Path) -> Open:
    """What opens repositories, with pins of its own."""
    return open_hub(tmp_path / "hub.lock.yaml")


def parquet(hub: Hub, found: np.ndarray, steps: int, group: int) -> dict:
    """Rows in training order as Parquet files of `steps` steps; the family's `rows`."""
    folder = hub.revision("datasets", "toy/parquet") / "data"
    folder.mkdir()
    per_file = steps * BATCH
    for first in range(0, len(found), per_file):
        part = found[first : first + per_file]
        table = pa.table(
            {
                "batch_idx": np.arange(first, first + len(part)) // BATCH,
                "token_ids": [row.tolist() for row in part],
            }
        )
        last = (first + per_file) // BATCH
        pq.write_table(table, folder / f"train-{last:06d}.parquet", row_group_size=group)
    files = "data/train-{last}.parquet"
    return {"kind": "parquet", "repo": "toy/parquet", "files": files, "steps": steps}


def lines(hub: Hub, chunks: list[np.ndarray]) -> dict:
    """Rows as JSONL files, one per interval; the family's `rows`."""
    folder = hub.revision("datasets", "toy/lines")
    for number, chunk in enumerate(chunks):
        text = "".join(
            json.dumps({"token_ids": row.tolist(), "source": f"s{i % 3}"}) + "\n"
            for i, row in enumerate(chunk)
        )
        (folder / f"train_{number:03d}.jsonl").write_text(text)
    return {"kind": "lines", "repo": "toy/lines", "files": "train_*.jsonl", "line": 150}
