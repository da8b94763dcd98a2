"""The gradient of every text's loss by all weights of a model: its norms, p = 1, 2 and infinity.

In: a model folder and texts (contract TEXTS). Out: contract GRADIENTS, in the order of the texts.
The loss is the mean negative log-prob of the tokens that the pass (scripts/tokens.py) scores, in
nats; the weights count as one vector, in float32 whatever their published precision. Texts go
through the model one by one (batches with torch.func are no faster on a CPU). A text without a
scored token has no gradient: its norms are 0.

Settings: model, dataset; overflow (scripts.extraction.overflow).
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from scripts.cli import arguments, run
from scripts.contracts.extras import GRADIENTS
from scripts.errors import UserError
from scripts.extraction.devices import acquired
from scripts.extraction.identity import digest
from scripts.extraction.inputs import Inputs, read_inputs
from scripts.extraction.memory import PROGRAM
from scripts.extraction.overflow import parse_overflow
from scripts.extraction.parts import Parts
from scripts.extraction.work import Work, plan_work
from scripts.models.transformers import Backbone, load, weight_files
from scripts.progress import bar
from scripts.resumable import resumable

PART = 64  # texts: what a kill can lose


def main() -> None:
    """Write the norms of one model and dataset."""
    args = arguments(__doc__, ["model", "texts", "gradients"], numbers=["memory"])
    torch.set_num_threads(args.threads)
    inputs = read_inputs(args.model, args.texts)
    trusted = args.settings.get("trust_remote_code", False)
    with acquired(os.environ.get("PRETRACE_DEVICE", "auto")) as device:
        backbone = load(args.model, "float32", device, _log, trusted)
        _write(args, inputs, backbone)


def _write(args, inputs: Inputs, backbone: Backbone) -> None:
    overflow = parse_overflow(
        args.settings.get("overflow"), backbone.context, backbone.learned_positions
    )
    encoded = inputs.encoded.truncate(overflow.limit)
    work = plan_work(encoded.ids, encoded.bounds, overflow.window, overflow.stride)
    _warn(args.memory, backbone, work)
    facts = {
        "settings": args.settings,
        "device": str(backbone.device),
        "threads": args.threads,
        "tokenizer": inputs.about["tokenizer"],
    }
    weights = [args.model / "config.json", *weight_files(args.model)]
    with resumable(args.gradients, digest(weights, args.texts, facts, Path(__file__))) as folder:
        norms = _all_norms(backbone, work, Parts(folder), args.gradients.stem)
        table = {
            "text_id": inputs.texts["text_id"],
            **dict(zip(GRADIENTS.required.names[1:], norms.T, strict=True)),
        }
        GRADIENTS.write(
            args.gradients,
            pa.table(table, schema=GRADIENTS.required),
            {
                **args.settings,
                **inputs.about,
                "backend": "transformers",
                "dtype": "float32",
                "device": backbone.device.type,
                "truncated": overflow.truncated(np.diff(inputs.encoded.bounds)),
            },
        )


def _all_norms(backbone: Backbone, work: Work, parts: Parts, what: str) -> np.ndarray:
    """Norms [texts, 3] of all texts, part by part."""
    texts = len(work.bounds) - 1
    backbone.model.requires_grad_(True)
    first = np.searchsorted(work.start, work.bounds)  # items of text i: first[i] to first[i + 1]
    done = []
    with bar(what=what, unit="text", total=texts, seconds=30) as progress:
        for number, start in enumerate(range(0, texts, PART)):
            rows = range(start, min(start + PART, texts))
            if parts.has(number):
                progress.initial += len(rows)
                progress.update(len(rows))
            else:
                found = np.zeros((len(rows), 3))
                for place, row in enumerate(rows):
                    items = range(first[row], first[row + 1])
                    if items:
                        found[place] = gradient_norms(backbone, work, items)
                    progress.update(1)
                parts.save(number, found)
            done.append(parts.load(number))
    return np.concatenate(done)


def gradient_norms(backbone: Backbone, work: Work, items: Sequence[int]) -> list[float]:
    """1-, 2- and max-norm of the gradient of the mean loss over the scored tokens of `items`."""
    model = backbone.model
    model.zero_grad()
    ids = torch.from_numpy(work.ids).to(backbone.device)
    scored = sum(int(work.stop[item] - work.first[item]) for item in items)
    try:
        for item in items:
            start, first, stop = work.start[item], work.first[item], work.stop[item]
            logits = model(input_ids=ids[None, start : stop - 1], use_cache=False).logits
            loss = torch.nn.functional.cross_entropy(
                logits[0, first - start - 1 :].float(), ids[first:stop], reduction="sum"
            )
            (loss / scored).backward()
    except torch.OutOfMemoryError as error:
        raise UserError(
            f"the gradient of one text of {stop - start} tokens does not fit into the memory of "
            f"{backbone.device}; cut the texts (overflow), or choose a larger device"
        ) from error
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    if backbone.device.type == "mps":  # it has no float64
        gradients = [gradient.cpu() for gradient in gradients]
    by_tensor = torch.stack(
        [
            torch.stack(
                [torch.linalg.vector_norm(x, p, dtype=torch.float64) for p in (1, 2, torch.inf)]
            )
            for x in gradients
        ]
    )
    one, two, largest = by_tensor.unbind(1)
    norms = torch.stack([one.sum(), two.square().sum().sqrt(), largest.max()]).tolist()
    if not np.isfinite(norms).all():
        raise UserError(
            "the model gives gradients that are not finite in float32: its weights are damaged; "
            "fetch it again"
        )
    return norms


def _warn(memory: int | None, backbone: Backbone, work: Work) -> None:
    """Say so where `memory` MiB are too few for weights, gradient and the longest item."""
    if memory is None or backbone.device.type != "cpu" or not len(work.start):
        return
    config = backbone.model.config
    longest = int((work.stop - work.start).max())
    token = config.num_hidden_layers * backbone.bytes_per_token + 12 * backbone.vocabulary
    needed = PROGRAM + (2 * backbone.nbytes + longest * token) // 2**20
    if memory < needed:
        _log(f"{memory} MB of memory are too few for this model: it needs about {needed} (mem_mb)")


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(main)
