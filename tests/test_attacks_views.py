"""Attacks that read further views: values by hand, and what must hold for each of them."""

import importlib

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.attacks import con_recall, lowercase, neighbour, pac, recall
from scripts.attacks.batch import Batch, Ragged, Reading, Scored
from scripts.attacks.views import SMALLEST_LOSS
from scripts.errors import UserError
from scripts.planning.settings import expand
from tests.workflow import ROOT

REGISTRY = yaml.safe_load((ROOT / "config" / "attacks.yaml").read_text())
MODULES = ("lowercase", "neighbour", "pac", "recall", "con_recall")
SETTINGS = [
    (attack, parameters)
    for attack, entry in REGISTRY.items()
    if entry.get("module", attack) in MODULES
    for parameters in expand(attack, entry.get("settings")).values()
]


def reading(rows: list[tuple[int, list[float]]], ids: list[list[int]] | None = None) -> Reading:
    """A view with (text, log-probs) rows, and their token ids."""
    columns = {"logprob": Ragged.from_rows([values for _, values in rows])}
    if ids:
        columns["token_id"] = Ragged.from_rows(ids)
    return Reading(columns, np.array([text for text, _ in rows], dtype=np.int64))


def batch(logprobs: list[list[float]], views: dict, ids: list[list[int]] | None = None) -> Batch:
    columns = {"logprob": Ragged.from_rows(logprobs)}
    if ids:
        columns["token_id"] = Ragged.from_rows(ids)
    return Batch([str(i) for i in range(len(logprobs))], columns, views=views)


def test_lowercase_is_the_ratio_of_mean_losses():
    texts = [[-1.0, -3.0], [-0.5], [0.0, 0.0]]
    view = reading([(0, [-4.0, -2.0, -6.0]), (2, [-1.0])])
    scores, fallback = lowercase.score(batch(texts, {"lowercase": view}))
    # 4 / 2; no token left in lower case; a loss of 0 counts as the smallest.
    assert scores.tolist() == [2.0, 1.0, 1.0 / SMALLEST_LOSS]
    assert fallback.tolist() == [False, True, False]


def test_neighbour_is_the_distance_to_the_mean_of_the_neighbours():
    texts = [[-1.0, -3.0], [-0.5], [-2.0]]
    # Means -4 and -2 of text 0, -1 of text 2; text 1 has no neighbour.
    view = reading([(0, [-4.0]), (0, [-1.0, -3.0]), (2, [-1.0])])
    scores, fallback = neighbour.score(batch(texts, {"neighbours": view}))
    assert scores.tolist() == [-2.0 - (-3.0), 0.0, -2.0 - (-1.0)]
    assert fallback.tolist() == [False, True, False]


def test_pac_is_how_much_the_polarised_distance_grows():
    texts = [[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0], [-3.0]]
    # k of 0.3 * 7 is 2, of 0.05 * 7 it is 1 (at least): D = -1 - (-6.5) = 5.5.
    # First copy: k = 1 of 4 tokens: -1 - (-9) = 8; second: -2 - (-2) = 0.
    view = reading([(0, [-9.0, -1.0, -1.0, -1.0]), (0, [-2.0])])
    scores, fallback = pac.score(batch(texts, {"swaps": view}))
    assert scores.tolist() == [(8.0 + 0.0) / 2 - 5.5, 0.0]
    assert fallback.tolist() == [False, True]


# The plain pass scores all tokens but the first (7); the one behind the prefix scores it too.
IDS, PREFIXED_IDS = [[8, 9]], [[7, 8, 9]]
OWN = [[-1.0, -3.0]]


def test_recall_takes_both_means_over_the_same_tokens():
    view = reading([(0, [-9.0, -2.0, -4.0])], PREFIXED_IDS)
    given_batch = batch(OWN, {"recall": view}, IDS)
    assert recall.score(given_batch).tolist() == [3.0 / 2.0]
    # The released code has the first token in the mean behind the prefix.
    assert recall.score(given_batch, reading="released").tolist() == [5.0 / 2.0]
    with pytest.raises(UserError, match="reading=other: valid are paper, released"):
        recall.score(given_batch, reading="other")


def test_recall_where_the_plain_pass_has_scored_the_first_token_too():
    """A tokenizer that puts a token in front: both passes score every token of the text."""
    view = reading([(0, [-2.0, -4.0])], [[7, 8]])
    given_batch = batch(OWN, {"recall": view}, [[7, 8]])
    assert recall.score(given_batch).tolist() == [1.5]
    assert recall.score(given_batch, reading="released").tolist() == [1.5]


def test_recall_on_a_text_that_is_cut_behind_the_prefix():
    own = [[-1.0, -3.0, -50.0, -50.0]]
    view = reading([(0, [-9.0, -2.0, -4.0])], [[7, 8, 9]])
    given_batch = batch(own, {"recall": view}, [[8, 9, 10, 11]])
    assert recall.score(given_batch).tolist() == [1.5]
    assert recall.score(given_batch, reading="released").tolist() == [2.5]


def test_recall_of_a_text_of_one_repeated_token_goes_by_its_length():
    view = reading([(0, [-9.0, -2.0, -4.0])], [[5, 5, 5]])
    assert recall.score(batch(OWN, {"recall": view}, [[5, 5]])).tolist() == [1.5]


def test_recall_refuses_views_of_other_texts():
    other_tokens = reading([(0, [-9.0, -2.0, -4.0])], [[7, 9, 8]])
    with pytest.raises(ValueError, match="'0' has other tokens"):
        recall.score(batch(OWN, {"recall": other_tokens}, IDS))
    missing = reading([], [])
    with pytest.raises(ValueError, match="every text once"):
        recall.score(batch(OWN, {"recall": missing}, IDS))


def test_con_recall_weighs_the_second_view_with_gamma():
    nonmembers = reading([(0, [-9.0, -2.0, -4.0])], PREFIXED_IDS)  # 3 / 2
    members = reading([(0, [-9.0, -1.0, -2.0])], PREFIXED_IDS)  # 1.5 / 2
    given_batch = batch(OWN, {"nonmembers": nonmembers, "members": members}, IDS)
    assert con_recall.score(given_batch, gamma=0.4).tolist() == [1.5 - 0.4 * 0.75]
    assert (
        con_recall.score(given_batch, gamma=0.0).tolist()
        == recall.score(batch(OWN, {"nonmembers": nonmembers}, IDS)).tolist()
    )


def random_text(rng: np.random.Generator, n: int) -> dict:
    """Log-probs and ids of n tokens, of 0 to 3 rewritings, and of the text behind two prefixes."""

    def logprobs(length):
        return -rng.exponential(size=length) * (rng.random(length) < 0.9)

    ids = rng.integers(0, 3, size=n + 1)
    return {
        "logprob": logprobs(n),
        "token_id": ids[1:],
        "rewritten": [logprobs(rng.integers(1, n + 3)) for _ in range(rng.integers(0, 4))],
        "prefixed": [(logprobs(n + 1), ids) for _ in range(2)],
    }


def random_batch(texts: list[dict], entry: dict) -> Batch:
    """What the entry names of these texts."""
    if "token_id" in entry["columns"]:
        views = {
            view: reading(
                [(i, text["prefixed"][k][0]) for i, text in enumerate(texts)],
                [text["prefixed"][k][1] for text in texts],
            )
            for k, view in enumerate(entry["views"])
        }
    else:
        several = slice(None) if entry["views"] != ["lowercase"] else slice(1)
        rows = [(i, row) for i, text in enumerate(texts) for row in text["rewritten"][several]]
        views = {entry["views"][0]: reading(rows)}
    ids = [text["token_id"] for text in texts] if "token_id" in entry["columns"] else None
    return batch([text["logprob"] for text in texts], views, ids)


def score(attack: str, parameters: dict, texts: list[dict]) -> np.ndarray:
    entry = REGISTRY[attack]
    module = importlib.import_module(f"scripts.attacks.{entry.get('module', attack)}")
    result = module.score(random_batch(texts, entry), **parameters)
    return result.scores if isinstance(result, Scored) else result


@pytest.mark.parametrize(("attack", "parameters"), SETTINGS, ids=str)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), lengths=st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_a_text_scores_the_same_bits_alone_and_in_any_order(attack, parameters, seed, lengths):
    rng = np.random.default_rng(seed)
    texts = [random_text(rng, n) for n in lengths]
    together = score(attack, parameters, texts)
    order = rng.permutation(len(texts))
    assert score(attack, parameters, [texts[i] for i in order]).tolist() == together[order].tolist()
    assert [score(attack, parameters, [text])[0] for text in texts] == together.tolist()


@pytest.mark.parametrize(("attack", "parameters"), SETTINGS, ids=str)
def test_texts_of_one_token_have_a_finite_score(attack, parameters):
    rng = np.random.default_rng(0)
    scores = score(attack, parameters, [random_text(rng, 1) for _ in range(20)])
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
