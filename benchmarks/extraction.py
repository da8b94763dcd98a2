"""How fast is the pass? The engine, two usual loops and the bare matmul limit, interleaved.

    python benchmarks/extraction.py                        pythia-70m and 160m shapes, on one thread
    python benchmarks/extraction.py --device cuda --shapes 1.4b 6.9b --mixes short book

Weights are random (same FLOPs). On a CPU the clock is the process's CPU time with one thread, so
that other programs disturb little; on a GPU it is CUDA events. Each round measures the limit, the
engine and the loop once; ratios are medians over the rounds of ratios within a round.
"""

import argparse
import ctypes
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.extraction.batching import Budget
from scripts.extraction.encoding import Encoded
from scripts.extraction.engine import Engine
from scripts.extraction.overflow import Overflow
from scripts.extraction.parts import Parts
from scripts.extraction.planning import plan
from scripts.extraction.statistics import Scorer, rows_at_once, worth_compiling
from scripts.models.transformers import ARCHITECTURES, Backbone
from scripts.tokens import BUDGETS

SHAPES = {  # width, layers, heads: as published; vocabulary 50,304
    "70m": (512, 6, 8),
    "160m": (768, 12, 12),
    "1.4b": (2048, 24, 16),
    "6.9b": (4096, 32, 32),
}
VOCABULARY = 50_304
PADDED = 8  # texts per batch of the padded loop


def lengths_of(mix: str, scale: int) -> np.ndarray:
    """Token counts of a mix; `scale` times as many texts on a GPU."""
    draw = np.random.default_rng(1)
    match mix:
        case "wiki":  # WikiMIA's mix of 32, 64, 128 and 256 words
            return draw.choice([36, 72, 144, 256], 64 * scale, p=[0.42, 0.34, 0.17, 0.07])
        case "book":
            return draw.integers(512, 701, 8 * scale)
        case "long":
            return np.minimum(draw.lognormal(6.0, 0.9, 7 * scale).astype(int) + 16, 2048)
        case "short":
            return draw.integers(72, 89, 64 * scale)
    raise ValueError(mix)


def flops(shape: str, lengths: np.ndarray) -> float:
    """Matmul FLOPs: weights, causal attention, and the head for the scored rows."""
    width, layers, _ = SHAPES[shape]
    reads = (lengths - 1).astype(float)
    weights = 12 * layers * width**2
    attention = 2 * layers * width * reads**2  # QK and AV over half of the positions
    return float((2 * weights * reads + attention + 2 * width * VOCABULARY * reads).sum())


def five_columns(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """What a plain loop computes from full logits [n, V]: the usual formulas."""
    logits = logits.float()
    p, logp = logits.softmax(-1), logits.log_softmax(-1)
    own = logp.gather(1, targets[:, None])
    mean = (p * logp).sum(-1)
    std = ((p * logp.square()).sum(-1) - mean.square()).clamp_(min=0).sqrt()
    rank = (logits > logits.gather(1, targets[:, None])).sum(-1)
    return torch.stack([own[:, 0], logp.amax(-1), mean, std, rank.float()])


class Bench:
    """One shape on one device, and its variants as functions of a mix."""

    def __init__(self, shape: str, device: torch.device, dtype: torch.dtype, compiled: bool):
        width, layers, heads = SHAPES[shape]
        self.shape, self.device, self.width, self.compiled = shape, device, width, compiled
        config = GPTNeoXConfig(
            vocab_size=VOCABULARY,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            max_position_embeddings=2048,
        )
        with torch.device(device):
            model = GPTNeoXForCausalLM(config)
        model = model.to(dtype).eval().requires_grad_(False)
        name = str(dtype).removeprefix("torch.")
        self.backbone = Backbone(model, ARCHITECTURES["GPTNeoXForCausalLM"], device, name)
        self.budget: Budget = BUDGETS["cpu" if device.type == "cpu" else "gpu"]

    def engine(self, texts: Encoded) -> None:
        """Read `texts` with the engine."""
        rows = rows_at_once(VOCABULARY, self.device, whole=False)
        scorer = Scorer(VOCABULARY, self.device, rows, compiled=self.compiled)
        with tempfile.TemporaryDirectory() as folder:
            engine = Engine(self.backbone, scorer, self.budget.batch, print)
            planned = plan(texts, Overflow(), self.budget)
            engine.run(planned, Parts(Path(folder)), lambda *_: None)

    @torch.inference_mode()
    def loop(self, texts: Encoded) -> None:
        """One text at a time, full logits."""
        for low, high in zip(texts.bounds[:-1], texts.bounds[1:], strict=True):
            ids = torch.from_numpy(texts.ids[low:high]).to(self.device)
            logits = self.backbone.model(input_ids=ids[None]).logits[0, :-1]
            five_columns(logits, ids[1:]).cpu()

    @torch.inference_mode()
    def padded(self, texts: Encoded) -> None:
        """Batches of eight in the order of the texts, padded, with a mask and full logits."""
        rows = [
            torch.from_numpy(texts.ids[low:high])
            for low, high in zip(texts.bounds[:-1], texts.bounds[1:], strict=True)
        ]
        for start in range(0, len(rows), PADDED):
            batch = rows[start : start + PADDED]
            ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True).to(self.device)
            sizes = torch.tensor([len(row) for row in batch], device=self.device)
            mask = torch.arange(ids.shape[1], device=self.device) < sizes[:, None]
            logits = self.backbone.model(input_ids=ids, attention_mask=mask.long()).logits[:, :-1]
            five_columns(logits.flatten(0, 1), ids[:, 1:].flatten()).cpu()

    def gemm_rate(self) -> float:
        """FLOP/s of a large product in the model's dtype."""
        n = 2048 if self.device.type == "cpu" else 8192
        a = torch.randn(n, n, device=self.device, dtype=self.backbone.model.dtype)
        b, out = a.clone(), torch.empty_like(a)
        return 2 * n**3 / seconds(lambda: torch.mm(a, b, out=out), self.device)

    @torch.inference_mode()
    def head_over_gemm(self) -> float:
        """Head and five statistics of 1,024 rows, over the bare product with the head's weight."""
        hidden = torch.randn(1024, self.width, device=self.device)
        weight = torch.randn(VOCABULARY, self.width, device=self.device) * 0.02
        targets = torch.randint(0, VOCABULARY, (1024,), device=self.device)
        scorer = Scorer(VOCABULARY, self.device, 1024)
        head, out = type(self.backbone.head())(weight), torch.empty(1024, VOCABULARY)
        out = out.to(self.device)
        ratios = []
        for _ in range(7):
            bare = seconds(lambda: torch.mm(hidden, weight.T, out=out), self.device)
            whole = seconds(lambda: scorer.score(head, hidden, targets), self.device)
            ratios.append(whole / bare)
        return statistics.median(ratios[2:])


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """CPU time of this process, or time on the GPU by events."""
    if device.type == "cuda":
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1000
    start = time.process_time()
    work()
    return time.process_time() - start


def peak(work: Callable[[], object], device: torch.device) -> tuple[float, float]:
    """Seconds of `work` and the MiB that it needed on top, at its highest."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        taken = seconds(work, device)
        return taken, (torch.cuda.max_memory_allocated() - before) / 2**20
    ctypes.CDLL(None).malloc_trim(0)  # else it would reuse what earlier work has left mapped
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    before = _status("VmRSS")
    taken = seconds(work, device)
    return taken, (_status("VmHWM") - before) / 1024


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def measure(bench: Bench, mix: str, rounds: int, scale: int) -> dict[str, float]:
    """All variants of one (shape, mix): memory first, which warms up, then `rounds` in turn."""
    lengths = lengths_of(mix, scale)
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = np.random.default_rng(0).integers(0, VOCABULARY, bounds[-1])
    zeros = np.zeros(len(ids), np.int32)
    texts = Encoded(ids, zeros, zeros, bounds)
    work, tokens = flops(bench.shape, lengths), int((lengths - 1).sum())
    variants = {"engine": bench.engine, "loop": bench.loop, "padded": bench.padded}
    taken: dict[str, list] = {name: [] for name in [*variants, "limit", "gemm"]}
    memory: dict[str, float] = {}
    for name, variant in variants.items():
        first, memory[name] = peak(lambda v=variant: v(texts), bench.device)
        if name == "padded":  # slow, and no bar depends on it: this once
            taken[name].append(first)
    for _ in range(rounds):
        rate = statistics.median(bench.gemm_rate() for _ in range(3))
        taken["gemm"].append(rate)
        taken["limit"].append(work / rate)
        for name in ("engine", "loop"):
            taken[name].append(seconds(lambda v=variants[name]: v(texts), bench.device))
    ratio = lambda a, b: statistics.median(  # noqa: E731
        x / y for x, y in zip(taken[a], taken[b], strict=False)
    )
    middle = {name: statistics.median(values) for name, values in taken.items()}
    return {
        "tokens": tokens,
        "gemm_gflops": middle["gemm"] / 1e9,
        **{f"{name}_tokens_per_s": tokens / middle[name] for name in [*variants, "limit"]},
        **{f"{name}_peak_mib": memory[name] for name in variants},
        "engine_over_limit": ratio("limit", "engine"),
        "engine_over_loop": ratio("loop", "engine"),
        "engine_over_padded": ratio("padded", "engine"),
        "peak_over_loop": memory["engine"] / memory["loop"],
    }


def main() -> None:
    """Measure what the options name and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shapes", nargs="+", default=["70m", "160m"], choices=SHAPES)
    parser.add_argument(
        "--mixes",
        nargs="+",
        default=["wiki", "book", "long"],
        choices=["wiki", "book", "long", "short"],
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", help="default: float32 on a CPU, float16 on a GPU")
    parser.add_argument("--eager", action="store_true", help="on a GPU: without a compiler")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    device = torch.device(args.device)
    on_cpu = device.type == "cpu"
    dtype = getattr(torch, args.dtype or ("float32" if on_cpu else "float16"))
    compiled = worth_compiling(device) and not args.eager
    results: dict[str, dict] = {}
    for shape in args.shapes:
        bench = Bench(shape, device, dtype, compiled)
        head = bench.head_over_gemm()
        results[shape] = {}
        for mix in args.mixes:
            row = measure(bench, mix, args.rounds, scale=1 if on_cpu else 64)
            results[shape][mix] = {**row, "head_over_gemm": head}
            if not args.json:
                print_row(shape, mix, results[shape][mix])
        del bench
        gc.collect()
    if args.json:
        print(json.dumps(results, indent=2))


def print_row(shape: str, mix: str, row: dict[str, float]) -> None:
    """One (shape, mix) as lines for people."""
    print(f"\n{shape}, {mix}: {row['tokens']} tokens, GEMM {row['gemm_gflops']:.0f} GFLOP/s")
    print(f"  {'':8}{'tokens/s':>10}{'of limit':>10}{'of loop':>10}{'peak MiB':>10}")
    limit, loop = row["limit_tokens_per_s"], row["loop_tokens_per_s"]
    for name in ("limit", "engine", "loop", "padded"):
        rate, memory = row[f"{name}_tokens_per_s"], row.get(f"{name}_peak_mib", float("nan"))
        print(f"  {name:8}{rate:10.0f}{rate / limit:10.2f}{rate / loop:10.2f}{memory:10.0f}")
    print(
        f"  engine / limit {row['engine_over_limit']:.2f}, engine / loop "
        f"{row['engine_over_loop']:.2f}, peak / loop {row['peak_over_loop']:.2f}, head / GEMM "
        f"{row['head_over_gemm']:.2f}"
    )


if __name__ == "__main__":
    main()
