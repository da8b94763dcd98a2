"""Under random labels the AUC of every attack is 0.5, as often covered as its interval says.

2,000 label permutations at 1,000 + 1,000 texts, the same for all settings of all attacks.
"""

import numpy as np
import pytest

from scripts.attacks.batch import Batch
from scripts.evaluation.delong import auc_errors, interval
from scripts.evaluation.sample import make_sample
from tests.synthetic import (
    ATTACKS,
    FURTHER,
    REGISTRY,
    batch,
    further,
    random_texts,
    score,
    settings_of,
)

EACH, PERMUTATIONS, BLOCK = 1000, 2000, 200


@pytest.fixture(scope="module")
def batches() -> dict[str, Batch]:
    """What each attack reads of the same 2,000 texts."""
    lengths = np.random.default_rng(1).integers(1, 80, size=2 * EACH)
    texts = random_texts(0, lengths.tolist())
    stored = {attack: batch(texts, entry) for attack, entry in ATTACKS.items()}
    return stored | {attack: further(texts, entry) for attack, entry in FURTHER.items()}


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    """Half of the texts as members, bool [permutations, texts]."""
    rng = np.random.default_rng(2)
    half = np.tile(np.arange(2 * EACH) < EACH, (PERMUTATIONS, 1))
    return rng.permuted(half, axis=1)


def aucs_and_errors(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """AUC and DeLong's standard error for each row of `labels`, by counts along one sorted row."""
    order = np.argsort(scores, kind="stable")
    _, first, equal = np.unique(scores[order], return_index=True, return_counts=True)
    start, end = np.repeat(first, equal), np.repeat(first + equal, equal)  # the ties of each text
    found = []
    for rows in np.split(labels[:, order], len(labels) // BLOCK):
        members = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
        below, tied = members[:, start], members[:, end] - members[:, start]
        # Shares of the other class below a member, and above a non-member; ties count half.
        wins_of_members = (start - below + (end - start - tied) / 2) / EACH
        wins_of_others = 1 - (below + tied / 2) / EACH
        auc = (wins_of_members * rows).sum(1) / EACH
        squares = ((wins_of_members - auc[:, None]) ** 2 * rows).sum(1)
        squares += ((wins_of_others - auc[:, None]) ** 2 * ~rows).sum(1)
        found.append((auc, np.sqrt(squares / (EACH - 1) / EACH)))
    aucs, errors = (np.concatenate(part) for part in zip(*found, strict=True))
    return aucs, errors


@pytest.mark.parametrize(("attack", "parameters"), settings_of(REGISTRY), ids=str)
def test_random_labels_give_one_half(attack, parameters, batches, labels):
    scores = score(attack, parameters, batches[attack])
    aucs, errors = aucs_and_errors(scores, labels)
    for row in (0, 1):  # the counting above is what metrics compute
        sample = make_sample(labels[row], np.arange(2 * EACH), "null")
        expected = auc_errors(scores[None], sample)
        np.testing.assert_allclose((aucs[row], errors[row]), np.ravel(expected), rtol=1e-9)
    assert abs(aucs.mean() - 0.5) < 4 * aucs.std() / np.sqrt(PERMUTATIONS)
    inside = [
        low <= 0.5 <= high
        for low, high in (
            interval(auc, error, sample)
            for auc, error in zip(aucs.tolist(), errors.tolist(), strict=True)
        )
    ]
    assert 0.93 < np.mean(inside) < 0.97
