"""The five statistics against float64, on ordinary and on degenerate rows of logits."""

import shutil

import numpy as np
import pytest
import torch

from scripts.extraction.statistics import SLICE, Scorer, partials, partials_
from scripts.models.heads import Head

CPU = torch.device("cpu")
V = 2003


def float64(logits, targets):
    """Two-pass and centred, as the definitions read."""
    z = logits.double().numpy()
    shifted = z - z.max(1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    p = np.exp(logp)
    finite = np.where(p > 0, logp, 0)  # 0 * -inf counts nothing
    mean = (p * finite).sum(1)
    std = np.sqrt((p * np.where(p > 0, finite - mean[:, None], 0) ** 2).sum(1))
    rows = np.arange(len(z))
    rank = (z > z[rows, targets][:, None]).sum(1)
    return np.stack([logp[rows, targets], logp.max(1), mean, std, rank])


def engine(logits, targets, rows=100):
    scorer = Scorer(logits.shape[1], CPU, rows)
    return scorer.score(Head(None), logits, torch.as_tensor(targets)).double().numpy()


def distributions():
    torch.manual_seed(0)
    noise = torch.randn(64, V)
    zipf = -1.3 * torch.arange(1, V + 1).log() + 0.5 * noise
    peaked = 0.3 * noise
    peaked[:, 7] += torch.linspace(8, 24, 64)
    return {
        "zipf": zipf,
        "offset": zipf + 60,
        "large": 100 * noise,
        "peaked": peaked,
        "flat": 0.3 * noise,
        "near-uniform": 0.01 * noise,
    }


@pytest.mark.parametrize("name", distributions())
def test_against_float64(name):
    logits = distributions()[name]
    targets = np.random.default_rng(0).integers(0, V, len(logits))
    got, expected = engine(logits, targets), float64(logits, targets)
    # Logits of magnitude 100 have an fp32 spacing of 8e-6 themselves.
    np.testing.assert_allclose(got[:3], expected[:3], rtol=2e-7, atol=1e-5)
    np.testing.assert_allclose(got[3], expected[3], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(got[4], expected[4])


@pytest.mark.parametrize("name", distributions())
def test_what_a_compiler_gets_is_the_same(name):
    logits = distributions()[name]
    target = logits.gather(1, torch.arange(len(logits))[:, None])
    got = partials(logits.clone(), target, True)
    expected = torch.empty_like(got)
    partials_(logits.clone(), target, torch.empty_like(logits), expected)
    np.testing.assert_allclose(got, expected, rtol=5e-6, atol=5e-6)


@pytest.mark.parametrize("name", distributions())
def test_moments_over_the_vocabulary(name):
    logits = distributions()[name]
    targets = torch.arange(len(logits))
    got = Scorer(V, CPU, 100, moments=True).score(Head(None), logits, targets).double().numpy()
    logp = logits.double().log_softmax(-1)
    # As CheckMIABench's code has it, torch.std_mean with its default: Bessel's correction.
    std, mean = torch.std_mean(logp, -1)
    np.testing.assert_array_equal(got[:5], engine(logits, targets))
    np.testing.assert_allclose(got[5], mean, rtol=1e-5)
    np.testing.assert_allclose(got[6], std, rtol=1e-5)


def test_uniform_one_hot_and_masked_rows_are_finite():
    logits = torch.zeros(4, V)  # row 0: uniform
    logits[1] = -1e30
    logits[1, 5] = 0  # one-hot
    logits[2, 10:] = -torch.inf  # a masked vocabulary: uniform over ten
    logits[3] = -torch.inf
    logits[3, 5] = 3.0
    got = engine(logits, [3, 5, 4, 9])
    ln_v, ln_10 = np.log(V), np.log(10)
    np.testing.assert_allclose(got[:, 0], [-ln_v, -ln_v, -ln_v, 0, 0], atol=2e-6)
    np.testing.assert_array_equal(got[:, 1], [0, 0, 0, 0, 0])
    np.testing.assert_allclose(got[:, 2], [-ln_10, -ln_10, -ln_10, 0, 0], atol=1e-6)
    # A token of probability 0 gets the floor, not minus infinity.
    np.testing.assert_array_equal(got[:, 3], [-120, 0, 0, 0, 1])


def test_one_masked_row_among_many_slices_and_tiles():
    torch.manual_seed(3)
    logits = 3 * torch.randn(3 * SLICE, V)
    logits[2 * SLICE + 5, ::2] = -torch.inf
    targets = np.random.default_rng(3).integers(0, V // 2, len(logits)) * 2 + 1
    got, expected = engine(logits, targets, rows=len(logits)), float64(logits, targets)
    np.testing.assert_allclose(got[:4], expected[:4], rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(got[4], expected[4])


def test_rank_counts_strictly_larger_logits():
    logits = torch.tensor([[1.0, 2.0, 2.0, 3.0, 0.0]])
    assert [engine(logits, [t])[4, 0] for t in range(5)] == [3, 1, 1, 0, 4]


def test_values_do_not_depend_on_the_chunks():
    logits = distributions()["zipf"]
    targets = np.arange(len(logits))
    whole = engine(logits, targets, rows=64)
    for rows in (1, 7, 63, 1000):
        np.testing.assert_allclose(engine(logits, targets, rows=rows), whole, atol=5e-6)


def test_the_head_applies_bias_scale_and_cap():
    torch.manual_seed(1)
    hidden, weight, bias = torch.randn(9, 16), torch.randn(V, 16), torch.randn(V)
    targets = np.arange(9)
    raw = (hidden.double() @ weight.double().T + bias.double()) * 0.5
    expected = float64(4.0 * torch.tanh(raw / 4.0), targets)
    scorer = Scorer(V, CPU, 4)
    got = scorer.score(Head(weight, bias, 0.5, 4.0), hidden, torch.as_tensor(targets)).numpy()
    np.testing.assert_allclose(got[:4], expected[:4], atol=1e-5)
    np.testing.assert_array_equal(got[4], expected[4])


def test_a_smaller_buffer_gives_the_same():
    logits = distributions()["flat"]
    targets = torch.arange(64)
    scorer = Scorer(V, CPU, 64)
    whole = scorer.score(Head(None), logits, targets).numpy()
    assert scorer.shrink() and scorer.rows == 32
    np.testing.assert_allclose(scorer.score(Head(None), logits, targets), whole, atol=5e-6)
    while scorer.shrink():
        pass
    assert scorer.rows == 1


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_compiled_sums_are_the_same():
    logits = distributions()["peaked"]
    targets = torch.arange(64)
    scorer = Scorer(V, CPU, 64, compiled=True)
    got = scorer.score(Head(None), logits, targets).numpy()
    assert scorer.compiled
    np.testing.assert_allclose(got, engine(logits, targets), rtol=2e-6, atol=5e-6)
