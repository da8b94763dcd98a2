"""Each attack equals a value computed by hand, with the arithmetic in the comments."""

from dataclasses import replace

import numpy as np
import pytest

from scripts.attacks import (
    dc_pdd,
    gap_k,
    gap_k_shuffled,
    gap_share,
    loss,
    max_k,
    min_k,
    min_k_plus_plus,
    surp,
    zlib,
)
from scripts.attacks.batch import Batch, Ragged, Reading, count, released_count
from scripts.errors import UserError


def batch(texts=(), **columns) -> Batch:
    n = len(next(iter(columns.values())))
    return Batch(
        text_ids=[str(i) for i in range(n)],
        columns={name: Ragged.from_rows(rows) for name, rows in columns.items()},
        texts=texts,
    )


TWO = [[-1.0, -4.0, -2.5, -0.5, -2.0], [-3.0]]


def test_loss_is_the_mean():
    # (-1 - 4 - 2.5 - 0.5 - 2) / 5 = -10 / 5
    np.testing.assert_allclose(loss.score(batch(logprob=TWO)), [-2.0, -3.0], rtol=1e-15)


def test_zlib_divides_the_mean_by_the_compressed_bytes():
    # RFC 1951, fixed Huffman codes: 3 bits of header, 8 bits a byte below 144 and 9 above, 7 bits
    # of end; RFC 1950 adds 2 bytes before and 4 after.
    # "abc": 3 + 24 + 7 = 34 bits = 5 bytes, 11 in all. "é" is C3 A9 in UTF-8: 3 + 18 + 7 = 28 bits
    # = 4 bytes, 10 in all (its one byte of Latin-1 would make 9).
    scores = zlib.score(batch(texts=["abc", "é"], logprob=TWO))
    np.testing.assert_allclose(scores, [-2.0 / 11, -3.0 / 10], rtol=1e-15)


def test_min_k_is_the_mean_of_the_lowest():
    # n = 5, ratio 0.4: k = 2, the lowest are -4 and -2.5; the second text has k = max(1, 0) = 1.
    np.testing.assert_allclose(min_k.score(batch(logprob=TWO), ratio=0.4), [-3.25, -3.0])
    # ratio 0.3: floor(1.5) = 1
    np.testing.assert_allclose(min_k.score(batch(logprob=TWO), ratio=0.3), [-4.0, -3.0])


def test_max_k_is_the_mean_of_the_highest():
    # ratio 0.4: k = 2, the highest are -0.5 and -1
    np.testing.assert_allclose(max_k.score(batch(logprob=TWO), ratio=0.4), [-0.75, -3.0])


# Three tokens; sigma 0.5, 2 and 0 (one-hot on the wrong token), and a certain, correct one.
STATISTICS = {
    "logprob": [[-1.0, -4.0, -3.0], [0.0]],
    "top_logprob": [[-0.5, -1.0, 0.0], [0.0]],
    "mean_logprob": [[-2.0, -3.0, 0.0], [0.0]],
    "std_logprob": [[0.5, 2.0, 0.0], [0.0]],
}


def test_min_k_plus_plus_normalises_and_clamps_sigma():
    # z = (-1 + 2) / 0.5 = 2; (-4 + 3) / 2 = -0.5; (-3 - 0) / 1e-4 = -30000
    statistics = batch(**STATISTICS)
    np.testing.assert_allclose(
        min_k_plus_plus.score(statistics, ratio=0.67), [(-30000 - 0.5) / 2, 0.0]
    )
    np.testing.assert_allclose(
        min_k_plus_plus.score(statistics, ratio=1.0), [(-30000 - 0.5 + 2) / 3, 0.0]
    )


def test_gap_k_without_smoothing():
    # g = (-1 + 0.5) / 0.5 = -1; (-4 + 1) / 2 = -1.5; (-3 - 0) / 1e-4 = -30000
    statistics = batch(**STATISTICS)
    np.testing.assert_allclose(
        gap_k.score(statistics, window=1, ratio=0.67), [(-30000 - 1.5) / 2, 0.0]
    )


def test_gap_k_smooths_over_whole_windows_only():
    # sigma 1 and a top-1 of probability 1, so that g is the log-prob.
    gaps = [[-1.0, -5.0, -3.0, 0.0, -4.0], [-2.0, -1.0], [-6.0, 0.0, 0.0]]
    flat = [[0.0] * len(row) for row in gaps]
    ones = [[1.0] * len(row) for row in gaps]
    statistics = batch(logprob=gaps, top_logprob=flat, std_logprob=ones)
    # Window 3: (-9, -8, -7) / 3, so m = 3 and k = floor(0.67 * 3) = 2: (-3 - 8/3) / 2.
    # The second text is shorter than the window: raw, k = floor(1.34) = 1. The third has one window.
    np.testing.assert_allclose(
        gap_k.score(statistics, window=3, ratio=0.67), [(-3 - 8 / 3) / 2, -2.0, -2.0]
    )
    # Window 2: -3, -4, -1.5, -2, with k = floor(0.67 * 4) = 2; -1.5; -3, 0, with k = 1.
    np.testing.assert_allclose(gap_k.score(statistics, window=2, ratio=0.67), [-3.5, -1.5, -3.0])
    # k is a share of the 4 smoothed values, not of the 5 tokens: floor(0.4 * 4) = 1.
    assert gap_k.score(statistics, window=2, ratio=0.4)[0] == -4.0


def test_windows_of_min_k_and_min_k_plus_plus():
    # Averages of two: (-1 - 4) / 2 = -2.5, -3.25, -1.5, -1.25; floor(0.5 * 4) = 2 of them
    scores = min_k.score(batch(logprob=TWO), ratio=0.5, window=2)
    np.testing.assert_allclose(scores, [(-3.25 - 2.5) / 2, -3.0])
    # z = 2, -0.5, -30000 (above), averages of two: 0.75, -15000.25; floor(0.5 * 2) = 1
    scores = min_k_plus_plus.score(batch(**STATISTICS), ratio=0.5, window=2)
    np.testing.assert_allclose(scores, [-15000.25, 0.0])


def test_released_readings_have_no_floor_of_k():
    # n = 5, ratio 0.4: k = 2 in both readings. Ratio 0.1: int(0.5) = 0, where the codes have the
    # mean of nothing (min) or of the whole slice (max): here the mean of all, -10 / 5, counted.
    texts = batch(logprob=TWO)
    for module, two in ((min_k, -3.25), (max_k, -0.75)):
        result = module.score(texts, ratio=0.4, reading="released")
        np.testing.assert_allclose(result.scores, [two, -3.0])
        assert result.fallback.tolist() == [False, True]
        result = module.score(texts, ratio=0.1, reading="released")
        np.testing.assert_allclose(result.scores, [-2.0, -3.0])
        assert result.fallback.tolist() == [True, True]
    # z = 2, -0.5, -30000 (above): int(0.3 * 3) = 0, so their mean
    result = min_k_plus_plus.score(batch(**STATISTICS), ratio=0.3, reading="released")
    np.testing.assert_allclose(result.scores, [(2 - 0.5 - 30000) / 3, 0.0])
    assert result.fallback.all()
    with pytest.raises(UserError, match="reading=code: valid are paper, released"):
        min_k.score(texts, ratio=0.1, reading="code")


def test_released_k_is_that_of_floating_point():
    # 0.29 * 100 = 28.999999999999996, so Python's int() makes 28 of it
    k, none = released_count(0.29, np.array([100, 3]))
    assert (k.tolist(), none.tolist()) == ([28, 3], [False, True])


def test_min_k_plus_plus_with_the_vocabularys_moments():
    # z = (-1 + 9) / 2 = 4; (-4 + 8) / 4 = 1; (-3 + 8) / 1 = 5; text 2: (0 + 6) / 3 = 2
    view = Reading(
        {
            "logprob": Ragged.from_rows(STATISTICS["logprob"]),
            "vocab_mean_logprob": Ragged.from_rows([[-9.0, -8.0, -8.0], [-6.0]]),
            "vocab_std_logprob": Ragged.from_rows([[2.0, 4.0, 1.0], [3.0]]),
        },
        text=np.array([0, 1]),
    )
    texts = replace(batch(logprob=STATISTICS["logprob"]), views={"vocabulary": view})
    # k = floor(0.7 * 3) = 2
    scores = min_k_plus_plus.score(texts, ratio=0.7, moments="vocabulary")
    np.testing.assert_allclose(scores, [2.5, 2.0])
    with pytest.raises(UserError, match="moments=plain"):
        min_k_plus_plus.score(texts, ratio=0.7, moments="plain")
    other = replace(texts, views={"vocabulary": Reading(view.columns, np.array([0, 0]))})
    with pytest.raises(ValueError, match="every text once"):
        min_k_plus_plus.score(other, ratio=0.7, moments="vocabulary")


# Ids 0 to 3 were counted 5, 0, 1 and 10 times; N = 16, V = 4.
COUNTS = np.array([5, 0, 1, 10])
IDS = [[3, 1, 3, 2], [1]]
PROBABILITIES = [[0.5, 0.01, 0.9, 0.004], [0.002]]


def counted() -> Batch:
    texts = batch(logprob=[np.log(row) for row in PROBABILITIES], token_id=IDS)
    return replace(texts, counts=COUNTS)


def test_dc_pdd_takes_first_occurrences_and_caps_them():
    # q = (count + 1) / 20: 1/20 for id 1, 2/20 for id 2, 11/20 for id 3; the second 3 is left out.
    # 0.5 ln(20/11) = 0.299 and 0.01 ln 20 = 0.02996 and 0.004 ln 10 = 0.00921; capped at 0.02.
    # The second text: 0.002 ln 20.
    expected = [(0.02 + 0.02 + 0.004 * np.log(10)) / 3, 0.002 * np.log(20)]
    np.testing.assert_allclose(dc_pdd.score(counted(), a=0.02), expected, rtol=1e-13)
    expected[0] = (0.5 * np.log(20 / 11) + 0.01 * np.log(20) + 0.004 * np.log(10)) / 3
    np.testing.assert_allclose(dc_pdd.score(counted(), a=1), expected, rtol=1e-13)


def test_dc_pdd_released_reads_raw_counts():
    # log(1 / count): -ln 10 for id 3, 0 for id 2; none for id 1, which gets the cap.
    expected = [(-0.5 * np.log(10) + 0.02 + 0.0) / 3, 0.02]
    scores = dc_pdd.score(counted(), a=0.02, reading="released")
    np.testing.assert_allclose(scores, expected, rtol=1e-13)


def test_dc_pdd_refuses_ids_that_were_not_counted():
    texts = replace(counted(), counts=COUNTS[:3])
    with pytest.raises(ValueError, match="token id 3 beyond the 3"):
        dc_pdd.score(texts, a=0.01)


def test_zlib_forms_of_checkmiabench():
    # 11 and 10 bytes as above; the released statistics are -length and loss + length, lower = member
    texts = batch(texts=["abc", "é"], logprob=TWO)
    np.testing.assert_allclose(zlib.score(texts, form="length"), [11.0, 10.0])
    np.testing.assert_allclose(zlib.score(texts, form="sum"), [-2.0 - 11.0, -3.0 - 10.0])
    with pytest.raises(UserError, match="form=mean"):
        zlib.score(texts, form="mean")


def test_gap_share_counts_large_gaps():
    # |g| = 1, 1.5 and 30000 (above); 0 in the second text
    scores = gap_share.score(batch(**STATISTICS), tau=1)
    np.testing.assert_allclose(scores, [-2 / 3, 0.0])
    scores = gap_share.score(batch(**STATISTICS), tau=0.5)
    np.testing.assert_allclose(scores, [-1.0, 0.0])


def test_surp_takes_the_surprising_tokens():
    # n = 5, ratio 0.6: k = 3, the lowest are -4, -2.5, -2; of these two have an entropy under 2
    # nats: (-4 - 2) / 2. No low token of the second text is certain: its Loss, (-3 - 1) / 2.
    # In the third the two tokens of -2 are equally low, floor(0.5 * 3) = 1, and one of them certain.
    statistics = batch(
        logprob=[[-1.0, -4.0, -2.5, -0.5, -2.0], [-3.0, -1.0], [-2.0, -1.0, -2.0]],
        mean_logprob=[[-1.0, -1.5, -2.0, -1.0, -1.9], [-2.5, -0.1], [-3.0, -1.0, -1.0]],
    )
    result = surp.score(statistics, ratio=0.6, entropy=2.0)
    np.testing.assert_allclose(result.scores[:2], [-3.0, -2.0])
    assert result.fallback.tolist() == [False, True, False]
    result = surp.score(statistics, ratio=0.5, entropy=2.0)
    assert (result.scores[2], result.fallback[2]) == (-2.0, False)


def test_shuffling_keeps_the_gaps_and_loses_their_order():
    # Window 1 does not see the order. With window 2, the gaps 0, -1, …, -9 in order have -8.5 as
    # their lowest average, and that is as low as any order can get.
    ones, gaps = [[1.0] * 10] * 5, [list(range(0, -10, -1))] * 5
    statistics = batch(logprob=gaps, top_logprob=[[0.0] * 10] * 5, std_logprob=ones)
    same = gap_k.score(statistics, window=1, ratio=0.2)
    np.testing.assert_array_equal(gap_k_shuffled.score(statistics, window=1, ratio=0.2), same)
    assert gap_k.score(statistics, window=2, ratio=0.1).tolist() == [-8.5] * 5
    scores = gap_k_shuffled.score(statistics, window=2, ratio=0.1)
    assert (scores >= -8.5).all()
    assert len(set(scores.tolist())) > 1  # every text has an order of its own


@pytest.mark.parametrize(
    ("ratio", "n", "k"),
    [
        (0.29, 100, 29),  # 0.29 * 100 = 28.999999999999996 in floating point
        (0.1, 30, 3),
        (0.15, 20, 3),
        (0.2, 4, 1),
        (0.2, 9, 1),
        (0.2, 10, 2),
        (0.1, 1, 1),
        (1.0, 7, 7),
        (1, 7, 7),
        (0.00001, 100_000, 1),
    ],
)
def test_k_is_the_floor_of_the_written_decimal(ratio, n, k):
    assert count(ratio, np.array([n])).tolist() == [k]


@pytest.mark.parametrize("ratio", [0, -0.1, 1.5])
def test_a_ratio_outside_its_range_is_refused(ratio):
    with pytest.raises(UserError, match="ratio="):
        min_k.score(batch(logprob=TWO), ratio=ratio)


@pytest.mark.parametrize("window", [0, -1, 2.5])
def test_a_window_that_is_no_number_of_tokens_is_refused(window):
    with pytest.raises(UserError, match="window="):
        gap_k.score(batch(**STATISTICS), window=window, ratio=0.2)


def test_a_row_without_numbers_has_no_mean():
    with pytest.raises(ValueError, match="no mean"):
        Ragged.from_rows([[1.0], [], [2.0]]).means()
