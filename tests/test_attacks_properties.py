"""What must hold for every attack that reads stored statistics alone, on random texts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.attacks import gap_k, loss, max_k, min_k, min_k_plus_plus
from scripts.attacks.batch import SMALLEST_STD, Ragged
from tests.synthetic import ATTACKS, SETTINGS, batch, random_texts
from tests.synthetic import score as score_batch


def score(attack: str, parameters: dict, texts: list[dict]) -> np.ndarray:
    """Scores from nothing but what the attack's entry names."""
    return score_batch(attack, parameters, batch(texts, ATTACKS[attack]))


seeds = st.integers(0, 2**32)
lengths = st.lists(st.integers(1, 200), min_size=1, max_size=5)


@pytest.mark.parametrize(("attack", "parameters"), SETTINGS, ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=seeds, lengths=lengths)
def test_a_text_scores_the_same_bits_alone_and_in_any_order(attack, parameters, seed, lengths):
    several = random_texts(seed, lengths)
    together = score(attack, parameters, several)
    order = np.random.default_rng(seed).permutation(len(several))
    assert score(attack, parameters, [several[i] for i in order]).tolist() == (
        together[order].tolist()
    )
    alone = [score(attack, parameters, [text])[0] for text in several]
    assert alone == together.tolist()


@pytest.mark.parametrize(("attack", "parameters"), SETTINGS, ids=str)
def test_texts_of_one_token_have_a_finite_score(attack, parameters):
    scores = score(attack, parameters, random_texts(0, [1, 1, 1]))
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths)
def test_min_k_of_all_tokens_is_the_loss(seed, lengths):
    statistics = batch(random_texts(seed, lengths))
    np.testing.assert_allclose(
        min_k.score(statistics, ratio=1.0), loss.score(statistics), rtol=1e-13
    )


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths)
def test_max_k_and_both_readings_of_all_tokens_are_the_loss(seed, lengths):
    statistics = batch(random_texts(seed, lengths))
    for scores in (
        max_k.score(statistics, ratio=1.0),
        min_k.score(statistics, ratio=1.0, reading="released").scores,
        max_k.score(statistics, ratio=1.0, reading="released").scores,
    ):
        np.testing.assert_allclose(scores, loss.score(statistics), rtol=1e-13)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, lengths=lengths, ratio=st.sampled_from([0.05, 0.1, 0.2, 0.5, 1.0]))
def test_gap_k_of_window_1_is_the_unsmoothed_definition(seed, lengths, ratio):
    several = random_texts(seed, lengths)
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
    statistics = batch(random_texts(seed, lengths))
    sigma = np.maximum(statistics["std_logprob"].values, SMALLEST_STD)
    favourite = (statistics["top_logprob"].values - statistics["mean_logprob"].values) / sigma
    np.testing.assert_allclose(
        gap_k.gaps(statistics).values,
        min_k_plus_plus.z_scores(statistics).values - favourite,
        rtol=1e-9,
        atol=1e-9,
    )
