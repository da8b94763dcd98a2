"""CPU seconds of all settings of the attacks on stored statistics: 10,000 texts of 512 tokens.

    OMP_NUM_THREADS=1 python -m benchmarks.scoring [texts]

One thread. Attacks that read further texts or models are left out. The statistics are random, with
lengths of 384 to 640 tokens. The bar: all settings together in at most 10 s, and Min-K% at ten
ratios at least six times as fast as a sort per text and per ratio, with the same scores.
"""

import importlib
import sys
import time
from dataclasses import replace

import numpy as np

from scripts.attacks import min_k
from scripts.attacks.batch import Batch, Ragged, Reading
from scripts.batches import BLOCK
from scripts.planning.settings import expand
from scripts.score import score_all
from tests.synthetic import ATTACKS, SAME_TEXTS

BAR_ALL, BAR_MIN_K = 10.0, 6.0
SENTENCE = 20  # words
VOCABULARY = 50_000
RATIOS = [round(0.05 * i, 2) for i in range(1, 11)]


def main() -> None:
    """Time all settings, compare Min-K% with the usual loop, print one line each."""
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    batches = [random_batch(BLOCK, seed) for seed in range(-(-texts // BLOCK))]
    total = 0.0
    for attack, entry in ATTACKS.items():
        module = importlib.import_module(f"scripts.attacks.{entry.get('module', attack)}")
        settings = expand(attack, entry.get("settings"))
        fresh = [(np.arange(BLOCK), _fresh(batch)) for batch in batches]
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
    fresh = _fresh(batch)
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
        "rank": rng.integers(0, VOCABULARY, size=n),
        "token_id": rng.integers(0, VOCABULARY, size=n),
        "vocab_mean_logprob": top - 10 - rng.exponential(size=n),
        "vocab_std_logprob": rng.exponential(size=n) + 0.1,
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
    tags["word_tfidf_order"] = tags["word_order"][::-1]
    entities = words // SENTENCE
    tags |= {
        "entity_sentence": np.tile(np.arange(entities), texts),
        "entity_order": np.zeros(texts * entities, dtype=np.int64),
        "entity_start": np.tile(np.arange(entities) * SENTENCE * 5, texts),
        "entity_end": np.tile(np.arange(entities) * SENTENCE * 5 + 4, texts),
    }
    found = np.sort(rng.integers(0, words * 5 - 4, size=texts * entities * 9))
    tags |= {
        "released_order": np.tile(np.arange(9), texts * entities),
        **{name: found for name in ("released_start", "released_joined_start")},
        **{name: found + 4 for name in ("released_end", "released_joined_end")},
    }
    prose_words = np.array(["liberty", "the", "of", "union", "a", "senate", "and", "in"])
    prose = [" ".join(row) for row in prose_words[rng.integers(0, 8, size=(texts, words))]]
    columns = {name: Ragged(values, offsets) for name, values in columns.items()}
    return Batch(
        text_ids=[str(i) for i in range(texts)],
        columns=columns,
        counts=rng.integers(0, 100, size=VOCABULARY),
        views={name: Reading(columns, np.arange(texts)) for name in SAME_TEXTS},
        texts=prose,
        tags={
            name: Ragged(values, np.arange(texts + 1) * (len(values) // texts))
            for name, values in tags.items()
        },
    )


def _fresh(batch: Batch) -> Batch:
    """The batch without what an earlier attack left cached."""
    columns = {
        name: Ragged(column.values, column.offsets) for name, column in batch.columns.items()
    }
    return replace(batch, columns=columns)


if __name__ == "__main__":
    main()
