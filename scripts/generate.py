"""What a model writes behind the first part of every text, for attacks that see no log-probs.

In: a model folder and texts (contract TEXTS). Out: contract GENERATIONS, in the order of the texts.
The first `share` of a text's tokens is the prompt, at least one token and never all; `samples`
continuations are drawn at temperature 1 from the `top_k` likeliest tokens of each step, and end
where the model ends a text. Every draw has a random number of its own, which depends on the seed,
the dataset, the text and the sample alone. (In another batch, rounding can still move a draw that
lies on a border.) A text of fewer than two tokens has an empty second part and empty samples.

Settings: model, dataset, seed; dtype; overflow (scripts.extraction.overflow; texts beyond the
context are cut to it); samples, share, top_k, length (tokens of a continuation; null: as many as
the second part has).
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from scripts.cli import arguments, run
from scripts.contracts.extras import GENERATIONS
from scripts.extraction.devices import acquired
from scripts.extraction.identity import digest
from scripts.extraction.inputs import Inputs, read_inputs
from scripts.extraction.memory import PROGRAM
from scripts.extraction.overflow import parse_overflow
from scripts.extraction.parts import Parts
from scripts.extraction.sampling import NOTHING, continuations
from scripts.models.transformers import Backbone, load, weight_files
from scripts.progress import bar
from scripts.resumable import resumable
from scripts.seeds import generator

TOKENS = 16_384  # of a batch, prompts and continuations of all its samples


@dataclass(frozen=True)
class Split:
    """Where texts are cut, in tokens: int64 [texts] each."""

    start: np.ndarray  # of the text among the tokens of all texts
    prompt: np.ndarray  # 0 for a text that is too short
    stop: np.ndarray  # end of the second part
    write: np.ndarray  # tokens of a continuation


def main() -> None:
    """Write the samples of one model and dataset."""
    args = arguments(__doc__, ["model", "texts", "generations"], numbers=["memory"])
    torch.set_num_threads(args.threads)
    inputs = read_inputs(args.model, args.texts)
    dtype = args.settings.get("dtype", "auto")
    trusted = args.settings.get("trust_remote_code", False)
    with acquired(os.environ.get("PRETRACE_DEVICE", "auto")) as device:
        backbone = load(args.model, dtype, device, _log, trusted)
        _write(args, inputs, backbone)


def _write(args, inputs: Inputs, backbone: Backbone) -> None:
    settings = args.settings
    overflow = parse_overflow(
        settings.get("overflow"), backbone.context, backbone.learned_positions
    )
    # A context of n positions holds n + 1 tokens: the last one is never read.
    limits = [overflow.limit, backbone.context and backbone.context + 1]
    limit = min((limit for limit in limits if limit), default=None)
    split = split_texts(inputs.encoded.bounds, settings["share"], settings["length"], limit)
    tokens = _tokens(args.memory, backbone)
    batches = plan(split, settings["samples"], tokens)
    facts = {
        "settings": settings,
        "dtype": backbone.dtype,
        "device": str(backbone.device),
        "threads": args.threads,
        "tokens": tokens,
        "tokenizer": inputs.about["tokenizer"],
    }
    weights = [args.model / "config.json", *weight_files(args.model)]
    with resumable(args.generations, digest(weights, args.texts, facts, Path(__file__))) as folder:
        samples = _sample(args, inputs, split, batches, backbone, Parts(folder))
    encoded, texts = inputs.encoded, inputs.texts["text"].to_pylist()
    targets = [
        text[encoded.start[start + prompt] : encoded.end[stop - 1]] if prompt else ""
        for text, start, prompt, stop in zip(
            texts, split.start, split.prompt, split.stop, strict=True
        )
    ]
    GENERATIONS.write(
        args.generations,
        pa.table(
            {"text_id": inputs.texts["text_id"], "target": targets, "samples": samples},
            schema=GENERATIONS.required,
        ),
        {
            **settings,
            **inputs.about,
            "backend": "transformers",
            "dtype": backbone.dtype,
            "device": backbone.device.type,
        },
    )


def split_texts(bounds: np.ndarray, share: float, length: int | None, limit: int | None) -> Split:
    """Cut texts, whose tokens lie between `bounds`, to `limit` tokens and into two parts."""
    start, sizes = bounds[:-1], np.diff(bounds)
    kept = np.minimum(sizes, limit) if limit else sizes
    prompt = np.where(kept > 1, np.clip((kept * share).astype(np.int64), 1, kept - 1), 0)
    write = kept - prompt
    if length is not None:
        # The model may have no room for as many.
        write = np.minimum(length, limit - prompt) if limit else np.full_like(write, length)
    return Split(start, prompt, start + kept, write)


def plan(split: Split, samples: int, tokens: int) -> list[np.ndarray]:
    """Texts that go through the model together: of one length of prompt, so that none is padded.

    A batch holds at most `tokens` tokens (or one text), the longest first.
    """
    batches = []
    for prompt in np.unique(split.prompt[split.prompt > 0])[::-1]:
        alike = np.flatnonzero(split.prompt == prompt)
        alike = alike[np.argsort(-split.write[alike], kind="stable")]
        while len(alike):
            row = samples * int(prompt + split.write[alike[0]])
            count = max(1, tokens // row)
            batches.append(alike[:count])
            alike = alike[count:]
    return batches


def _sample(
    args, inputs: Inputs, split: Split, batches: list[np.ndarray], backbone: Backbone, parts: Parts
) -> list[list[str]]:
    """The samples of all texts, batch by batch."""
    settings, texts = args.settings, len(split.start)
    samples = [[""] * settings["samples"] for _ in range(texts)]
    with bar(what=args.generations.stem, unit="text", total=texts, seconds=30) as progress:
        for number, batch in enumerate(batches):
            if parts.has(number):
                progress.initial += len(batch)
            else:
                parts.save(number, _batch(settings, inputs, split, batch, backbone))
            progress.update(len(batch))
            for row, written in zip(batch, parts.load(number), strict=True):
                kept = [tokens[: split.write[row]] for tokens in written]
                samples[row] = inputs.tokenizer.decode_batch(
                    [tokens[tokens != NOTHING].tolist() for tokens in kept]
                )
    return samples


def _batch(
    settings: dict, inputs: Inputs, split: Split, batch: np.ndarray, backbone: Backbone
) -> np.ndarray:
    """Token ids [texts, samples, tokens] of one batch."""
    count, prompt, longest = settings["samples"], split.prompt[batch[0]], split.write[batch].max()
    prompts = inputs.encoded.ids[split.start[batch][:, None] + np.arange(prompt)]
    uniforms = np.zeros((len(batch), count, longest))
    for place, row in enumerate(batch):
        text_id = inputs.texts["text_id"][int(row)].as_py()
        rng = generator(settings["seed"], "generate", settings["dataset"], text_id)
        # Not `longest`: another text's length must not shift the draws of this one.
        uniforms[place, :, : split.write[row]] = rng.random((count, split.write[row]))
    written = continuations(
        backbone,
        np.repeat(prompts, count, axis=0),
        uniforms.reshape(-1, longest),
        settings["top_k"],
    )
    return written.reshape(uniforms.shape)


def _tokens(memory: int | None, backbone: Backbone) -> int:
    """How many tokens a batch may hold: keys and values of all of them stay, in half the room."""
    device, config = backbone.device, backbone.model.config
    if device.type == "cuda":
        left = torch.cuda.get_device_properties(device).total_memory - backbone.nbytes
    elif memory is not None and device.type == "cpu":
        left = (memory - PROGRAM) * 2**20 - backbone.nbytes
    else:
        return TOKENS
    kept = 2 * config.num_hidden_layers * config.hidden_size * backbone.model.dtype.itemsize
    return max(1, min(TOKENS, int(left / 2 / (kept + backbone.bytes_per_token))))


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(main)
