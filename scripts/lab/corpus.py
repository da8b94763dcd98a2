"""Cut the lab's speeches into windows of equal length, the texts that models train on."""

import hashlib
import os

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from scripts.cli import arguments, run
from scripts.contracts.texts import TEXTS
from scripts.lab.sotu import Speech, speeches, version


def windows(found: list[Speech], tokenizer: Tokenizer, size: int) -> tuple[pa.Table, int]:
    """Table TEXTS of all windows of `size` tokens, and how many were left out.

    Each speech is tokenised whole and cut from its start on; its last tokens, fewer than `size`,
    are left out. `token_ids` are the speech's own, and `text` is what they decode to. (Encoding
    `text` again need not give them back: a window may begin in the middle of a word.) A window
    that begins or ends inside a character of several bytes has no text of its own and is left
    out; numbers in `text_id` count it, so that they say where in the speech a window stands.
    """
    parts, broken = [], 0
    for speech, encoding in zip(
        found, tokenizer.encode_batch_fast([speech.text for speech in found]), strict=True
    ):
        count = len(encoding.ids) // size
        ids = np.array(encoding.ids[: count * size], dtype=np.int32).reshape(count, size)
        texts = tokenizer.decode_batch(ids.tolist())
        # The corpus holds no U+FFFD: the decoder put it where a window cuts a character.
        whole = [i for i, text in enumerate(texts) if "\N{REPLACEMENT CHARACTER}" not in text]
        broken += count - len(whole)
        offsets = np.arange(len(whole) + 1, dtype=np.int32) * size
        parts.append(
            pa.table(
                {
                    "text_id": [f"{speech.name}.{i:04d}" for i in whole],
                    "text": [texts[i] for i in whole],
                    "label": pa.nulls(len(whole), pa.int8()),
                    "group": pa.repeat(speech.name, len(whole)),
                    "date": pa.repeat(speech.date, len(whole)),
                    "token_ids": pa.ListArray.from_arrays(offsets, ids[whole].ravel()),
                }
            )
        )
    return pa.concat_tables(parts).cast(
        pa.schema(
            [*TEXTS.required, TEXTS.optional.field("date"), TEXTS.optional.field("token_ids")]
        )
    ), broken


def main() -> None:
    """Step: settings `speeches` (every n-th) and `window` (tokens); writes `--corpus`."""
    args = arguments(__doc__, ["tokenizer", "corpus"])
    os.environ["RAYON_NUM_THREADS"] = str(args.threads)
    file = args.tokenizer / "tokenizer.json"
    table, broken = windows(
        speeches(args.settings["speeches"]),
        Tokenizer.from_file(str(file)),
        args.settings["window"],
    )
    TEXTS.write(
        args.corpus,
        table,
        {
            "source": version(),
            "tokenizer": hashlib.sha256(file.read_bytes()).hexdigest(),
            "settings": args.settings,
            "windows_inside_a_character": broken,
        },
    )


if __name__ == "__main__":
    run(main)
