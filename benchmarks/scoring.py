"""CPU seconds of every setting of every attack on 10,000 texts of 512 tokens, one thread.

    OMP_NUM_THREADS=1 python -m benchmarks.scoring [texts]

The statistics are random, with lengths of 384 to 640 tokens. The bar: all settings together in at
most 10 s, and Min-K% at ten ratios at least six times as fast as a sort per text and per ratio,
with the same scores.
"""

import importlib
import sys
import time
from pathlib import Path

import numpy as np
import yaml

from scripts.attacks import min_k
from scripts.attacks.batch import Batch, Ragged
from scripts.planning.settings import expand
from scripts.score import BLOCK, score_all

ATTACKS = Path(__file__).parents[1] / "config" / "attacks.yaml"
BAR_ALL, BAR_MIN_K = 10.0, 6.0
SENTENCE = 20  # words
RATIOS = [round(0.05 * i, 2) for i in range(1, 11)]


def main() -> None:
    """Time all settings, compare Min-K% with the usual loop, print one line each."""
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    batches = [random_batch(BLOCK, seed) for seed in range(-(-texts // BLOCK))]
    total = 0.0
    for attack, entry in yaml.safe_load(ATTACKS.read_text()).items():
        module = importlib.import_module(f"scripts.attacks.{entry.get('module', attack)}")
        settings = expand(attack, entry.get("settings"))
        fresh = [
            (np.arange(BLOCK), Batch(batch.text_ids, _copies(batch), batch.texts, batch.tags))
            for batch in batches
        ]
        start = time.process_time()
        score_all(module, fresh, BLOCK, settings)
        seconds = time.process_time() - start
        total += seconds
        print(f"{attack:24}{len(settings):4} settings {seconds:7.2f} s")
    print(f"{'all':24}{seconds_line(total, BAR_ALL)}")
    ours, loop = (sum(times) for times in zip(*map(min_k_against_a_loop, batches), strict=True))
    verdict = "ok" if loop / ours >= BAR_MIN_K else "TOO SLOW"
    print(f"Min-K% x {len(RATIOS)}: {ours:.2f} s, a sort per ratio {loop:.2f} s: ", end="")
    print(f"{loop / ours:.1f} times (bar {BAR_MIN_K:g}) {verdict}")


def seconds_line(seconds: float, bar: float) -> str:
    """Seconds against the most they may be."""
    return f"{seconds:.2f} s (bar {bar:g} s) {'ok' if seconds <= bar else 'TOO SLOW'}"


def min_k_against_a_loop(batch: Batch) -> tuple[float, float]:
    """CPU seconds of ours and of one sort per text and ratio, as the released codes do it."""
    fresh = Batch(batch.text_ids, _copies(batch))
    start = time.process_time()
    ours = [min_k.score(fresh, ratio=ratio) for ratio in RATIOS]
    seconds = time.process_time() - start
    logprob = batch["logprob"]
    rows = np.split(logprob.values, logprob.offsets[1:-1])
    start = time.process_time()
    loop = [[np.mean(np.sort(row)[: int(len(row) * r)]) for row in rows] for r in RATIOS]
    seconds_of_loop = time.process_time() - start
    np.testing.assert_allclose(ours, loop, rtol=1e-12)
    return seconds, seconds_of_loop


def random_batch(texts: int, seed: int) -> Batch:
    """Random statistics of texts with 384 to 640 tokens, and the tags of 400 words a text."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(384, 641, size=texts)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n = offsets[-1]
    places = np.arange(n) - np.repeat(offsets[:-1], lengths)
    top = -rng.exponential(size=n)
    columns = {
        "logprob": top - rng.exponential(size=n) * (rng.random(n) < 0.6),
        "top_logprob": top,
        "mean_logprob": top - rng.exponential(size=n),
        "std_logprob": rng.exponential(size=n) + 0.1,
        "rank": rng.integers(0, 50_000, size=n),
        "token_id": rng.integers(0, 50_000, size=n),
        "start": places * 4,
        "end": places * 4 + 4,
    }
    words = 400
    tags = {
        "word_sentence": np.tile(np.arange(words) // SENTENCE, texts),
        "word_start": np.tile(np.arange(words) * 5, texts),
        "word_end": np.tile(np.arange(words) * 5 + 4, texts),
        "word_order": np.concatenate(
            [rng.permutation(SENTENCE) for _ in range(texts * words // SENTENCE)]
        ),
    }
    entities = words // SENTENCE
    tags |= {
        "entity_sentence": np.tile(np.arange(entities), texts),
        "entity_order": np.zeros(texts * entities, dtype=np.int64),
        "entity_start": np.tile(np.arange(entities) * SENTENCE * 5, texts),
        "entity_end": np.tile(np.arange(entities) * SENTENCE * 5 + 4, texts),
    }
    vocabulary = np.array(["liberty", "the", "of", "union", "a", "senate", "and", "in"])
    prose = [" ".join(row) for row in vocabulary[rng.integers(0, 8, size=(texts, words))]]
    return Batch(
        text_ids=[str(i) for i in range(texts)],
        columns={name: Ragged(values, offsets) for name, values in columns.items()},
        texts=prose,
        tags={
            name: Ragged(values, np.arange(texts + 1) * (len(values) // texts))
            for name, values in tags.items()
        },
    )


def _copies(batch: Batch) -> dict[str, Ragged]:
    """The columns without what an earlier attack left cached."""
    return {name: Ragged(column.values, column.offsets) for name, column in batch.columns.items()}


if __name__ == "__main__":
    main()
