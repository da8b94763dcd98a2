"""Read a dataset's texts with a model once: five statistics of each scored token.

In: a model folder and texts (contract TEXTS). Out: contract TOKENS, rows in the order of the texts.
With `--shard i --of n` only the texts of that shard; `scripts.merge` puts shards together.

Settings: model, dataset, view; dtype (auto, float32, bfloat16, float16, int8, nf4); overflow
(scripts.extraction.overflow); perturb {copies, sigma, seed}: instead of the model, copies of it
with noise on the weights, as variants 1, 2, … Texts with a `prefix` are read behind it.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import torch

from scripts.cli import arguments, run
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import STATISTICS, TOKENS
from scripts.errors import UserError
from scripts.extraction.batching import Budget
from scripts.extraction.devices import acquired
from scripts.extraction.encoding import Encoded, encode, load_tokenizer
from scripts.extraction.engine import Engine, NonFiniteError
from scripts.extraction.identity import digest
from scripts.extraction.memory import limited
from scripts.extraction.order import in_order
from scripts.extraction.overflow import Overflow, parse_overflow
from scripts.extraction.parts import Parts
from scripts.extraction.perturb import perturbed
from scripts.extraction.planning import Plan, plan, shard
from scripts.extraction.prefix import fit_prefixes
from scripts.extraction.statistics import Scorer, rows_at_once
from scripts.models.transformers import SAFER, Backbone, load, weight_files
from scripts.progress import bar
from scripts.resumable import resumable

BUDGETS = {
    "cpu": Budget(batch=2048, early=512, part=16_384),
    "gpu": Budget(batch=16_384, early=4096, part=131_072),
}


def main() -> None:
    """Extract the token statistics of one (model, dataset, view)."""
    args = arguments(__doc__, ["model", "texts", "tokens"], numbers=["memory", "shard", "of"])
    torch.set_num_threads(args.threads)
    texts = TEXTS.read(args.texts)
    if not len(texts):
        raise UserError(f"{args.texts} holds no texts; check the dataset's entry")
    footer = provenance(args.texts)
    tokenizer, own = load_tokenizer(args.model)
    _check_tokenizer(args, texts, footer.get("tokenizer"), own)
    encoded = encode(tokenizer, texts, special="prefix" not in texts.column_names)
    if args.of:
        rows = shard(np.diff(encoded.bounds), args.shard, args.of)
        texts, encoded = texts.take(rows), encoded.take(rows)
    about = {"texts": footer, "tokenizer": own}
    dtype = args.settings.get("dtype", "auto")
    with acquired(os.environ.get("PRETRACE_DEVICE", "auto")) as device:
        while True:
            backbone = load(args.model, dtype, device, _log)
            try:
                _extract(args, texts, encoded, tokenizer, backbone, about)
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
    rows = rows_at_once(backbone.vocabulary, backbone.device)
    budget, rows = limited(budget, rows, args.memory, backbone, _log)
    if backbone.own_logits:
        budget = replace(budget, batch=min(budget.batch, rows))
    planned = _plan(texts, encoded, tokenizer, overflow, budget, backbone.context)
    facts = {
        "settings": args.settings,
        "dtype": backbone.dtype,
        "device": str(backbone.device),
        "threads": args.threads,
        "budget": [budget.batch, budget.early, budget.part, rows],
        "tokenizer": about["tokenizer"],
        "shard": [args.shard, args.of],
    }
    engine = Engine(
        backbone, Scorer(backbone.vocabulary, backbone.device, rows), budget.batch, _log
    )
    weights = [args.model / "config.json", *weight_files(args.model)]
    with resumable(args.tokens, digest(weights, args.texts, facts)) as folder:
        table = pa.concat_tables(
            _table(texts, planned.encoded, statistics, variant)
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
            },
        )
    _log(f"batches of {engine.tokens} tokens, {engine.scorer.rows} rows of logits at once")


def _plan(
    texts: pa.Table,
    encoded: Encoded,
    tokenizer,
    overflow: Overflow,
    budget: Budget,
    context: int | None,
) -> Plan:
    if "prefix" not in texts.column_names:
        return plan(encoded, overflow, budget)
    if overflow.window is not None:
        raise UserError("overflow: window cannot be used on texts with a prefix; choose truncate")
    lengths = np.diff(encoded.truncate(overflow.limit).bounds)
    shots = texts["prefix"].to_pylist()
    return plan(encoded, overflow, budget, fit_prefixes(tokenizer, shots, lengths, context))


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
        for number in perturbed(model, noise["sigma"], copies, noise["seed"]):
            first = (number - 1) * len(planned.parts)
            yield number, engine.run(planned, parts, done, first)


def _table(
    texts: pa.Table, encoded: Encoded, statistics: np.ndarray, variant: int | None
) -> pa.Table:
    """One row per text with its scored tokens: all but the first, which nothing predicts."""
    lengths = np.diff(encoded.bounds)
    scored = np.ones(len(encoded.ids), bool)
    scored[encoded.bounds[:-1][lengths > 0]] = False
    bounds = np.concatenate([[0], np.cumsum(np.maximum(lengths - 1, 0))]).astype(np.int32)
    columns = {
        "token_id": encoded.ids.astype(np.int32),
        "start": encoded.start,
        "end": encoded.end,
        **dict(zip(STATISTICS, statistics, strict=True)),
    }
    lists = {
        name: pa.ListArray.from_arrays(
            bounds, pa.array(values[scored].astype(np.int32 if name == "rank" else values.dtype))
        )
        for name, values in columns.items()
    }
    if variant is None and "variant" in texts.column_names:
        variants = texts["variant"]
    else:
        variants = pa.array(np.full(len(texts), variant or 0, np.int32))
    table = pa.table({"text_id": texts["text_id"], "variant": variants, **lists})
    return table.select(TOKENS.required.names)


def _check_tokenizer(args, texts: pa.Table, made_with: str | None, own: str) -> None:
    if "token_ids" not in texts.column_names or made_with == own:
        return
    raise UserError(
        f"{args.texts}: its token_ids come from another tokenizer (sha256 "
        f"{(made_with or 'not recorded')[:12]}) than {args.model / 'tokenizer.json'} "
        f"({own[:12]}); a dataset with ids serves only models with its own tokenizer: choose one, "
        "or a dataset of plain texts"
    )


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(main)
