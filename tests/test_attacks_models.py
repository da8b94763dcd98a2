"""Attacks on other models, weights, gradients and samples: values by hand, and what always holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.attacks import gradient_norm, mope, reference, samia, wbc
from scripts.attacks.batch import Batch, Ragged, Reading, Scored
from scripts.errors import UserError


def ragged(columns: dict) -> dict[str, Ragged]:
    return {name: Ragged.from_rows(rows) for name, rows in columns.items()}


def beside(own: dict, other: dict, text=None, texts=()) -> Batch:
    """A batch with the columns `own`, and `other` as its reference's (of the texts `text`)."""
    n = len(own["logprob"])
    text = np.arange(n) if text is None else np.array(text)
    return Batch(
        text_ids=[f"t{i}" for i in range(n)],
        columns=ragged(own),
        texts=texts,
        references={"reference": Reading(ragged(other), text)},
    )


def test_reference_is_the_difference_of_means_where_the_tokens_agree():
    own = {"logprob": [[-1.0, -3.0], [-2.0], [-4.0]], "token_id": [[5, 6], [7], [8]]}
    other = {"logprob": [[-2.0, -3.0], [-1.0]], "token_id": [[5, 6], [7]]}
    scores, fallback = reference.score(beside(own, other, [0, 1]))
    # -2 - (-2.5); -2 - (-1); the reference does not score the third text.
    assert scores.tolist() == [0.5, -1.0, 0.0]
    assert fallback.tolist() == [False, False, True]


def test_reference_compares_the_tokens_that_both_have_read():
    # One context ends after two tokens, the other after three: the mean of the first two.
    two = {"logprob": [[-2.0, -3.0]], "token_id": [[5, 6]]}
    three = {"logprob": [[-1.0, -3.0, -9.0]], "token_id": [[5, 6, 7]]}
    assert reference.score(beside(three, two)).scores.tolist() == [0.5]
    assert reference.score(beside(two, three)).scores.tolist() == [-0.5]


def test_reference_is_per_byte_where_the_tokenizers_differ():
    # "naïve" has six bytes of UTF-8, "aïve" five: (-1 - 3) / 5 - (-3) / 6. The second text has the
    # same tokens: -2 - (-1).
    own = {
        "logprob": [[-1.0, -3.0], [-2.0]],
        "token_id": [[5, 6], [7]],
        "start": [[1, 3], [0]],
        "end": [[3, 5], [1]],
    }
    other = {
        "logprob": [[-3.0], [-1.0]],
        "token_id": [[9], [7]],
        "start": [[0], [0]],
        "end": [[5], [1]],
    }
    scores = reference.score(beside(own, other, texts=["naïve", "x"])).scores
    np.testing.assert_allclose(scores, [-0.3, -1.0], rtol=1e-15)


def test_wbc_by_hand():
    same = {"token_id": [[1, 2, 3], [4]]}
    own = {"logprob": [[-1.0, -1.0, -4.0], [-1.0]], **same}
    other = {"logprob": [[-2.0, -2.0, -2.5], [-1.0]], **same}
    # Width 2: 2 < 4 is a vote, 5 < 4.5 is none. Width 3: 6 < 6.5. The eight wider ones are one
    # window of three tokens: (1/2 + 1 + 8) / 10. The second text: no width has 1 < 1.
    assert wbc.score(beside(own, other)).scores.tolist() == [0.95, 0.0]
    scores, fallback = wbc.score(
        beside(own, {name: [rows[0]] for name, rows in other.items()}, [0])
    )
    assert scores.tolist() == [0.95, 0.5] and fallback.tolist() == [False, True]


def test_wbc_is_the_share_of_windows_with_a_lower_sum_of_losses():
    rng = np.random.default_rng(0)
    lengths = [1, 2, 5, 12, 39, 40, 41, 90]
    ids = [list(range(n)) for n in lengths]
    own, other = ([-rng.exponential(size=n) for n in lengths] for _ in range(2))
    expected = []
    for mine, theirs in zip(own, other, strict=True):
        votes = []
        for width in (2, 3, 4, 6, 9, 13, 18, 25, 32, 40):
            kernel = np.ones(min(width, len(mine)))
            sums = [np.convolve(-losses, kernel, mode="valid") for losses in (mine, theirs)]
            votes.append(np.mean(sums[1] > sums[0]))
        expected.append(np.mean(votes))
    batch = beside({"logprob": own, "token_id": ids}, {"logprob": other, "token_id": ids})
    np.testing.assert_allclose(wbc.score(batch).scores, expected, rtol=1e-12)


def test_wbc_needs_the_models_own_tokenizer():
    own = {"logprob": [[-1.0], [-1.0]], "token_id": [[1], [2]]}
    with pytest.raises(UserError, match="other tokens in text 't1': it has another tokenizer"):
        wbc.score(beside(own, {**own, "token_id": [[1], [3]]}))


def test_mope_is_what_noise_adds_to_the_loss():
    copies = Reading(
        ragged({"logprob": [[-2.0, -3.0], [-3.0, -4.0], [-1.0], [-1.0]]}), np.array([0, 0, 1, 1])
    )
    batch = Batch(
        text_ids=["a", "b"],
        columns=ragged({"logprob": [[-1.0, -3.0], [-2.0]]}),
        views={"perturbed": copies},
    )
    # Losses 2.5 and 3.5 of the copies against 2; twice 1 against 2.
    assert mope.score(batch).scores.tolist() == [1.0, -1.0]


def test_gradient_norm_is_negated():
    norms = {"norm_1": np.array([9.0]), "norm_2": np.array([3.0]), "norm_inf": np.array([2.0])}
    batch = Batch(text_ids=["a"], columns={}, gradients=norms)
    assert [gradient_norm.score(batch, p=p).item() for p in (1, 2, "inf")] == [-9, -3, -2]
    with pytest.raises(UserError, match="p=3: valid are 1, 2, inf"):
        gradient_norm.score(batch, p=3)


def sampled(targets: list[str], samples: list[list[str]]) -> Batch:
    ids = [str(i) for i in range(len(targets))]
    return Batch(text_ids=ids, columns={}, targets=targets, samples=samples)


def test_samia_by_hand():
    batch = sampled(
        ["the cat sat on\nthe mat", "  "],
        [["the the the dog", "mat on fire", " the cat sat", ""], ["x", "x", "x", "x"]],
    )
    # Of six words: "the" twice; mat, on; the, cat, sat; none.
    scores, fallback = samia.score(batch, n=1, samples=4)
    np.testing.assert_allclose(scores, [(2 + 2 + 3 + 0) / 6 / 4, 0.0], rtol=1e-15)
    # The second text has no word that could be recalled.
    assert fallback.tolist() == [False, True]
    # Of five pairs of words: "the cat" and "cat sat".
    np.testing.assert_allclose(samia.score(batch, n=2, samples=3).scores[0], 2 / 5 / 3)
    np.testing.assert_allclose(samia.score(batch, n=1, samples=1).scores[0], 2 / 6)
    with pytest.raises(UserError, match="samples=5: 1 to 4 are drawn"):
        samia.score(batch, n=1, samples=5)


def test_samia_weights_by_the_compressed_size():
    # RFC 1951 with fixed codes: 3 + 8 * 6 + 7 = 58 bits are 8 bytes, with zlib's 6 around them 14.
    batch = sampled(["mat on it"], [["mat  on"]])
    np.testing.assert_allclose(samia.score(batch, n=1, samples=1, form="zlib").scores, [14 * 2 / 3])


# What the attacks here read of one text of n tokens, from a generator.
def random_text(rng: np.random.Generator, n: int, other: bool) -> dict:
    ids = rng.integers(0, 50, size=n)
    length = int(rng.integers(1, n + 1))
    words = list("abcd ")
    return {
        "own": {"logprob": -rng.exponential(size=n), "token_id": ids, **spans(n)},
        "reference": {
            "logprob": -rng.exponential(size=length),
            "token_id": ids[:length] + other,  # the same tokenizer or another one
            **spans(length),
        },
        "copies": [-rng.exponential(size=n) for _ in range(rng.integers(1, 4))],
        "text": "".join(rng.choice(list("aéb "), size=2 * n)),
        "norms": rng.exponential(size=3),
        "target": "".join(rng.choice(words, size=3 * n)),
        "samples": ["".join(rng.choice(words, size=3 * n)) for _ in range(3)],
    }


def spans(n: int) -> dict:
    return {"start": np.arange(n) * 2, "end": np.arange(n) * 2 + 2}


def batch_of(texts: list[dict]) -> Batch:
    def columns(part):
        return ragged({name: [text[part][name] for text in texts] for name in texts[0][part]})

    copies = [len(text["copies"]) for text in texts]
    rows = {"logprob": [row for text in texts for row in text["copies"]]}
    norms = np.array([text["norms"] for text in texts])
    return Batch(
        text_ids=[str(i) for i in range(len(texts))],
        columns=columns("own"),
        texts=[text["text"] for text in texts],
        references={"reference": Reading(columns("reference"), np.arange(len(texts)))},
        views={"perturbed": Reading(ragged(rows), np.repeat(np.arange(len(texts)), copies))},
        gradients=dict(zip(("norm_1", "norm_2", "norm_inf"), norms.T, strict=True)),
        targets=[text["target"] for text in texts],
        samples=[text["samples"] for text in texts],
    )


ATTACKS = {
    "reference": reference.score,
    "wbc": wbc.score,
    "mope": mope.score,
    "gradient_norm": lambda batch: gradient_norm.score(batch, p=2),
    "samia": lambda batch: samia.score(batch, n=1, samples=3, form="zlib"),
}


def scores_of(attack: str, texts: list[dict]) -> np.ndarray:
    result = ATTACKS[attack](batch_of(texts))
    return result.scores if isinstance(result, Scored) else result


def some_texts(attack: str, seed: int, lengths: list[int]) -> list[dict]:
    rng = np.random.default_rng(seed)
    # WBC refuses another tokenizer.
    return [random_text(rng, n, attack != "wbc" and rng.random() < 0.5) for n in lengths]


@pytest.mark.parametrize("attack", ATTACKS)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    lengths=st.lists(st.integers(1, 90), min_size=1, max_size=5),
)
def test_a_text_scores_the_same_bits_alone_and_in_any_order(attack, seed, lengths):
    texts = some_texts(attack, seed, lengths)
    together = scores_of(attack, texts)
    order = np.random.default_rng(seed).permutation(len(texts))
    assert scores_of(attack, [texts[i] for i in order]).tolist() == together[order].tolist()
    assert [scores_of(attack, [text])[0] for text in texts] == together.tolist()


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_of_one_token_have_a_finite_score(attack):
    scores = scores_of(attack, some_texts(attack, 0, [1] * 8))
    assert scores.dtype == np.float64 and np.isfinite(scores).all()
