"""What must hold for every attack of the registry, on random texts."""

import importlib
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.attacks import gap_k, loss, min_k, min_k_plus_plus
from scripts.attacks.batch import SMALLEST_STD, Batch, Ragged, Scored
from scripts.planning.settings import expand

REGISTRY = yaml.safe_load((Path(__file__).parents[1] / "config" / "attacks.yaml").read_text())
SETTINGS = [
    (attack, parameters)
    for attack, entry in REGISTRY.items()
    for parameters in expand(attack, entry.get("settings")).values()
]


def random_text(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Statistics of n tokens of five characters, four words of random rank, one entity."""
    top = -rng.exponential(size=n).astype(np.float32).astype(np.float64)
    starts = np.arange(n) * 5
    words = np.sort(rng.choice(5 * n, size=5, replace=False))
    return {
        "id": f"text {rng.integers(10**12)}",
        "text": "".join(rng.choice(list("abc de"), size=5 * n)),
        "columns": {
            "logprob": top - rng.exponential(size=n) * (rng.random(n) < 0.7),
            "top_logprob": top,
            "mean_logprob": top - rng.exponential(size=n),
            "std_logprob": rng.exponential(size=n) * (rng.random(n) < 0.9),
            "rank": rng.integers(0, 2000, size=n),
            "token_id": rng.integers(0, 50, size=n),
            "start": starts,
            "end": starts + 5,
        },
        "tags": {
            "word_sentence": np.array([0, 0, 1, 1]),
            "word_start": words[:-1],
            "word_end": words[1:],
            "word_order": np.concatenate([rng.permutation(2), rng.permutation(2)]),
            "entity_sentence": np.array([1]),
            "entity_order": np.array([0]),
            "entity_start": words[2:3],
            "entity_end": words[3:4],
        },
    }


def batch(texts: list[dict], entry: dict | None = None) -> Batch:
    """The texts with what a registry entry declares, or with everything."""

    def ragged(part, names):
        return {name: Ragged.from_rows([text[part][name] for text in texts]) for name in names}

    columns = entry["columns"] if entry else [*texts[0]["columns"], "text"]
    tagged = not entry or "tags" in entry.get("needs", [])
    return Batch(
        text_ids=[text["id"] for text in texts],
        columns=ragged("columns", [name for name in columns if name != "text"]),
        texts=[text["text"] for text in texts] if "text" in columns else (),
        tags=ragged("tags", texts[0]["tags"]) if tagged else {},
    )


def score(attack: str, parameters: dict, texts: list[dict]) -> np.ndarray:
    entry = REGISTRY[attack]
    module = importlib.import_module(f"scripts.attacks.{entry.get('module', attack)}")
    result = module.score(batch(texts, entry), **parameters)
    return result.scores if isinstance(result, Scored) else result


def texts(seed: int, lengths: list[int]) -> list[dict]:
    rng = np.random.default_rng(seed)
    return [random_text(rng, n) for n in lengths]


seeds = st.integers(0, 2**32)
lengths = st.lists(st.integers(1, 200), min_size=1, max_size=5)


@pytest.mark.parametrize(("attack", "parameters"), SETTINGS, ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=seeds, lengths=lengths)
def test_a_text_scores_the_same_bits_alone_and_in_any_order(attack, parameters, seed, lengths):
    several = texts(seed, lengths)
    together = score(attack, parameters, several)
    order = np.random.default_rng(seed).permutation(len(several))
    assert score(attack, parameters, [several[i] for i in order]).tolist() == (
        together[order].tolist()
    )
    alone = [score(attack, parameters, [text])[0] for text in several]
    assert alone == together.tolist()


@pytest.mark.parametrize(("attack", "parameters"), SETTINGS, ids=str)
def test_texts_of_one_token_have_a_finite_score(attack, parameters):
    scores = score(attack, parameters, texts(0, [1, 1, 1]))
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths)
def test_min_k_of_all_tokens_is_the_loss(seed, lengths):
    statistics = batch(texts(seed, lengths))
    np.testing.assert_allclose(
        min_k.score(statistics, ratio=1.0), loss.score(statistics), rtol=1e-13
    )


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths, ratio=st.sampled_from([0.05, 0.1, 0.2, 0.5, 1.0]))
def test_gap_k_of_window_1_is_the_unsmoothed_definition(seed, lengths, ratio):
    several = texts(seed, lengths)
    expected = []
    for text in several:
        columns = text["columns"]
        sigma = np.maximum(columns["std_logprob"], 1e-4)
        gaps = (columns["logprob"] - columns["top_logprob"]) / sigma
        # None of these ratios times a length below 201 rounds to the wrong side of a whole number.
        expected.append(np.mean(np.sort(gaps)[: max(1, int(ratio * len(gaps)))]))
    np.testing.assert_allclose(
        gap_k.score(batch(several), window=1, ratio=ratio), expected, rtol=1e-13
    )


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths, window=st.integers(2, 10))
def test_smoothing_is_numpys_valid_convolution(seed, lengths, window):
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=n) for n in lengths]
    smooth = Ragged.from_rows(rows).moving_averages(window)
    for i, row in enumerate(rows):
        expected = row
        if len(row) >= window:
            expected = np.convolve(row, np.full(window, 1 / window), mode="valid")
        values = smooth.values[smooth.offsets[i] : smooth.offsets[i + 1]]
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths)
def test_gap_is_z_score_minus_the_favourites_z_score(seed, lengths):
    statistics = batch(texts(seed, lengths))
    sigma = np.maximum(statistics["std_logprob"].values, SMALLEST_STD)
    favourite = (statistics["top_logprob"].values - statistics["mean_logprob"].values) / sigma
    np.testing.assert_allclose(
        gap_k.gaps(statistics).values,
        min_k_plus_plus.z_scores(statistics).values - favourite,
        rtol=1e-9,
        atol=1e-9,
    )
