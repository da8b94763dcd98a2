"""Make a model folder of a GGUF file: config.json, tokenizer.json, and gguf.json that names it.

In: the file, and a tokenizer.json where its own vocabulary is not to be used. Out: the folder that
every step with a model reads. The weights stay where they are; the pass dequantises them.
"""

import hashlib
import json
import re
import shutil
from pathlib import Path

import transformers
from gguf import GGUFReader

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.errors import UserError

PIECE = re.compile(r"-\d{5}-of-\d{5}\.gguf")


def main() -> None:
    """Write the model folder of one file."""
    args = arguments(__doc__, ["gguf", "config"], ["tokenizer"])
    if PIECE.search(args.gguf.name):
        raise UserError(
            f"{args.gguf} is one of several pieces; put them together (llama-gguf-split --merge)"
        )
    folder = args.config.parent
    config = read_config(args.gguf)
    with replacing(folder / "tokenizer.json") as temporary:
        if args.tokenizer:
            shutil.copyfile(args.tokenizer[0], temporary)
        else:
            read_tokenizer(args.gguf).save(str(temporary))
    with replacing(folder / "gguf.json") as temporary, args.gguf.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        weights = sum(int(tensor.n_elements) for tensor in GGUFReader(args.gguf).tensors)
        record = {"file": str(args.gguf), "sha256": digest, "weights": weights}
        temporary.write_text(json.dumps(record, indent=1) + "\n")
    with replacing(args.config) as temporary:
        config.to_json_file(temporary)


def read_config(path: Path) -> transformers.PreTrainedConfig:
    """The configuration in a GGUF file, with the causal class of transformers for it."""
    config = _read(transformers.AutoConfig, path, "configuration")
    try:
        config.architectures = [transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(config)].__name__]
    except KeyError:
        raise UserError(f"{path}: {config.model_type} is no causal language model") from None
    # What quantised weights are computed in on a GPU; their scales are float16, too.
    config.dtype = "float16"
    return config


def read_tokenizer(path: Path):
    """The fast tokenizer (of the tokenizers library) that a GGUF file's vocabulary makes."""
    tokenizer = _read(transformers.AutoTokenizer, path, "tokenizer")
    return tokenizer.backend_tokenizer


def _read(kind, path: Path, what: str):
    try:
        return kind.from_pretrained(path.parent, gguf_file=path.name, local_files_only=True)
    # Whatever the readers of other people's files raise.
    except Exception as error:
        hint = (
            "name a tokenizer.json (`tokenizer`) in the model's entry"
            if what == "tokenizer"
            else "is it a whole GGUF file of a language model?"
        )
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{path}: transformers {transformers.__version__} cannot read its {what} ({line}); "
            f"{hint}"
        ) from error


if __name__ == "__main__":
    run(main)
