"""Read a dataset's texts with a model once: five statistics of each scored token.

In: a model folder and texts (contract TEXTS). Out: contract TOKENS, rows in the order of the texts.
With `--shard i --of n` only the texts of that shard; with `--parts` the files of all shards are put
together and nothing is read. With `--record`, what memory allowed at once is written there.

Settings: model, dataset, view; dtype (auto, float32, bfloat16, float16, int8, nf4); overflow
(scripts.extraction.overflow); perturb {copies, sigma} and seed: instead of the model, copies of it
with noise on the weights, as variants 1, 2, … Texts with a `prefix` are read behind it;
vocabulary_moments: two more columns.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from scripts.cli import arguments, run
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import TOKENS
from scripts.errors import UserError
from scripts.extraction.batching import Budget
from scripts.extraction.devices import acquired
from scripts.extraction.encoding import Encoded
from scripts.extraction.engine import Engine, NonFiniteError
from scripts.extraction.identity import digest
from scripts.extraction.inputs import read_inputs
from scripts.extraction.memory import limited
from scripts.extraction.merging import merge
from scripts.extraction.order import in_order
from scripts.extraction.overflow import parse_overflow
from scripts.extraction.parts import Parts
from scripts.extraction.perturb import perturbed
from scripts.extraction.planning import Plan, plan, shard
from scripts.extraction.rows import token_rows
from scripts.extraction.shots import fitted_prefixes
from scripts.extraction.statistics import Scorer, rows_at_once, worth_compiling
from scripts.models.transformers import SAFER, Backbone, load, weight_files
from scripts.progress import bar
from scripts.resumable import resumable
from scripts.seeds import derive

BUDGETS = {
    "cpu": Budget(batch=2048, early=512, part=16_384),
    "gpu": Budget(batch=16_384, early=4096, part=131_072),
}


def main() -> None:
    """Extract the token statistics of one (model, dataset, view)."""
    args = arguments(
        __doc__,
        ["model", "texts", "tokens"],
        ["parts", "record"],
        numbers=["memory", "shard", "of"],
    )
    if args.parts:
        merge(args.parts, TEXTS.read(args.texts, ["text_id"])["text_id"].to_pylist(), args.tokens)
        return
    torch.set_num_threads(args.threads)
    inputs = read_inputs(args.model, args.texts)
    texts, encoded, about = inputs.texts, inputs.encoded, inputs.about
    if args.of:
        rows = shard(np.diff(encoded.bounds), args.shard, args.of)
        texts, encoded = texts.take(rows), encoded.take(rows)
    dtype = args.settings.get("dtype", "auto")
    trusted = args.settings.get("trust_remote_code", False)
    with acquired(os.environ.get("PRETRACE_DEVICE", "auto")) as device:
        while True:
            backbone = load(args.model, dtype, device, _log, trusted)
            try:
                _extract(args, texts, encoded, inputs.tokenizer, backbone, about)
                return
            except NonFiniteError as error:
                dtype = SAFER.get(backbone.dtype)
                if dtype is None:
                    raise UserError(
                        f"{args.model} gives values that are not finite in {backbone.dtype}: its "
                        "weights are damaged; fetch it again"
                    ) from error
                _log(f"{backbone.dtype} gives values that are not finite: again in {dtype}")
                about["not_finite_in"] = backbone.dtype


def _extract(args, texts, encoded: Encoded, tokenizer, backbone: Backbone, about: dict) -> None:
    """Read `encoded` with `backbone` and write the file."""
    overflow = parse_overflow(
        args.settings.get("overflow"), backbone.context, backbone.learned_positions
    )
    truncated = overflow.truncated(np.diff(encoded.bounds))
    if truncated:
        _log(f"{truncated} of {len(texts)} texts are cut to {overflow.limit} tokens")
    budget = BUDGETS["cpu" if backbone.device.type == "cpu" else "gpu"]
    rows = rows_at_once(backbone.vocabulary, backbone.device, backbone.own_logits)
    budget = limited(budget, args.memory, backbone, _log)
    if backbone.own_logits:
        budget = replace(budget, batch=min(budget.batch, rows))
    fitted = fitted_prefixes(texts, encoded, tokenizer, overflow, backbone.context, _log)
    planned = plan(encoded, overflow, budget, fitted and (fitted.prefixes, fitted.of_text))
    moments = args.settings.get("vocabulary_moments", False)
    compiled = worth_compiling(backbone.head_device)
    facts = {
        "settings": args.settings,
        "dtype": backbone.dtype,
        "device": str(backbone.device),
        "threads": args.threads,
        "budget": [budget.batch, budget.early, budget.part, rows],
        "tokenizer": about["tokenizer"],
        "shard": [args.shard, args.of],
        "compiled": compiled,
    }
    scorer = Scorer(backbone.vocabulary, backbone.head_device, rows, moments, compiled)
    engine = Engine(backbone, scorer, budget.batch, _log)
    weights = [args.model / "config.json", *weight_files(args.model)]
    with resumable(args.tokens, digest(weights, args.texts, facts, Path(__file__))) as folder:
        table = pa.concat_tables(
            token_rows(texts, planned.encoded, statistics, variant)
            for variant, statistics in _read(engine, planned, Parts(folder), args)
        )
        if "perturb" in args.settings:
            table = in_order(table, texts["text_id"].to_pylist())
        TOKENS.write(
            args.tokens,
            table,
            {
                **args.settings,
                **about,
                "backend": "transformers",
                "dtype": backbone.dtype,
                "device": backbone.device.type,
                "truncated": truncated,
                **({"shots": fitted.texts_by_shots()} if fitted else {}),
            },
        )
    used = {"batch_tokens": engine.tokens, "rows": scorer.rows, "compiled": scorer.compiled}
    _log(f"used: {json.dumps(used)}")
    for path in args.record:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(used) + "\n")


def _read(
    engine: Engine, planned: Plan, parts: Parts, args
) -> Iterator[tuple[int | None, np.ndarray]]:
    """Statistics of the model, or of each perturbed copy with its number."""
    noise = args.settings.get("perturb")
    copies = noise["copies"] if noise else 1
    total = copies * planned.work.scored
    with bar(what=args.tokens.stem, unit="tok", total=total, seconds=30) as progress:
        items = 0

        def done(count: int, tokens: int, resumed: bool) -> None:
            nonlocal items
            items += count
            if resumed:  # they say nothing about this run's speed
                progress.initial += tokens
            progress.set_postfix_str(f"{items} of {copies * len(planned.work.start)} texts", False)
            progress.update(tokens)

        if not noise:
            yield None, engine.run(planned, parts, done)
            return
        model = engine.backbone.model
        # The same copies of a model for all datasets, so that scores on them can be compared.
        seed = derive(args.settings["seed"], "perturb", args.settings["model"])
        for number in perturbed(model, noise["sigma"], copies, seed):
            first = (number - 1) * len(planned.parts)
            yield number, engine.run(planned, parts, done, first)


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(main)
