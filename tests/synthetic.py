"""Random token statistics for every attack of the registry, and what else it reads."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from scripts.attacks.batch import Batch, Ragged, Reading, Scored
from scripts.planning.settings import expand

CONFIG = Path(__file__).parents[1] / "config"
REGISTRY = yaml.safe_load((CONFIG / "attacks.yaml").read_text())
# Passes over the same texts that only write further columns.
SAME_TEXTS = {
    name
    for name, view in yaml.safe_load((CONFIG / "views.yaml").read_text()).items()
    if view.get("vocabulary_moments")
}
OPTIONAL = ("vocab_mean_logprob", "vocab_std_logprob")
VOCABULARY = 50


def stored(entry: dict) -> bool:
    """Whether an attack needs no other text, model, gradient or generation."""
    others = {*entry.get("needs", []), *entry.get("references", []), *entry.get("views", [])}
    return others <= {"tags", "counts", *SAME_TEXTS}


ATTACKS = {attack: entry for attack, entry in REGISTRY.items() if stored(entry)}


def settings_of(attacks: dict[str, dict]) -> list[tuple[str, dict]]:
    """Attacks with the parameters of each of their settings."""
    return [
        (attack, parameters)
        for attack, entry in attacks.items()
        for parameters in expand(attack, entry.get("settings")).values()
    ]


SETTINGS = settings_of(ATTACKS)


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
            "vocab_mean_logprob": top - 5 - rng.exponential(size=n),
            "vocab_std_logprob": rng.exponential(size=n),
            "rank": rng.integers(0, 2000, size=n),
            "token_id": rng.integers(0, VOCABULARY, size=n),
            "start": starts,
            "end": starts + 5,
        },
        "tags": {
            "word_sentence": np.array([0, 0, 1, 1]),
            "word_start": words[:-1],
            "word_end": words[1:],
            "word_order": np.concatenate([rng.permutation(2), rng.permutation(2)]),
            "word_tfidf_order": np.concatenate([rng.permutation(2), rng.permutation(2)]),
            "entity_sentence": np.array([1]),
            "entity_order": np.array([0]),
            "entity_start": words[2:3],
            "entity_end": words[3:4],
            "released_order": np.array([0, 1, 0]),
            "released_start": np.array([words[0], -1, words[2]]),
            "released_end": np.array([words[1], -1, words[3]]),
            "released_joined_start": words[:3],
            "released_joined_end": words[1:4],
        },
    }


def random_texts(seed: int, lengths: list[int]) -> list[dict]:
    """Texts with these numbers of tokens."""
    rng = np.random.default_rng(seed)
    return [random_text(rng, n) for n in lengths]


def batch(texts: list[dict], entry: dict | None = None) -> Batch:
    """The texts with what a registry entry declares, or with everything."""

    def ragged(part, names):
        return {name: Ragged.from_rows([text[part][name] for text in texts]) for name in names}

    columns = entry["columns"] if entry else [*texts[0]["columns"], "text"]
    needs = entry.get("needs", []) if entry else ["tags", "counts"]
    views = entry.get("views", []) if entry else SAME_TEXTS
    own = [name for name in columns if name not in ("text", *OPTIONAL)]
    return Batch(
        text_ids=[text["id"] for text in texts],
        columns=ragged("columns", own),
        texts=[text["text"] for text in texts] if "text" in columns else (),
        tags=ragged("tags", texts[0]["tags"]) if "tags" in needs else {},
        counts=np.arange(VOCABULARY) ** 2 // 7 if "counts" in needs else None,
        views={
            name: Reading(
                ragged("columns", [c for c in columns if c != "text"]), np.arange(len(texts))
            )
            for name in views
        },
    )


FURTHER = {attack: entry for attack, entry in REGISTRY.items() if not stored(entry)}


def further(texts: list[dict], entry: dict) -> Batch:
    """The texts with what an entry of `FURTHER` declares: other readings, gradients, samples."""
    rng, n = np.random.default_rng(3), len(texts)
    own = batch(texts, entry | {"views": [], "needs": []})
    words = list("abcdefgh")
    return replace(
        own,
        views={name: _other_reading(rng, texts, 1) for name in entry.get("views", [])},
        references={role: _other_reading(rng, texts, 0) for role in entry.get("references", [])},
        gradients={f"norm_{p}": rng.exponential(size=n) for p in (1, 2, "inf")},
        targets=[" ".join(rng.choice(words, size=5)) for _ in range(n)],
        samples=[[" ".join(rng.choice(words, size=5)) for _ in range(10)] for _ in range(n)],
    )


def _other_reading(rng: np.random.Generator, texts: list[dict], before: int) -> Reading:
    """Other log-probs of the same tokens, behind `before` more: as after a prefix, if any."""
    lengths = [before + len(text["columns"]["token_id"]) for text in texts]
    columns = {
        name: Ragged.from_rows([[*[0] * before, *text["columns"][name]] for text in texts])
        for name in ("token_id", "start", "end")
    }
    columns["logprob"] = Ragged.from_rows([-rng.exponential(size=k) for k in lengths])
    return Reading(columns, np.arange(len(texts)))


def score(attack: str, parameters: dict, texts: Batch) -> np.ndarray:
    """Scores of one setting, float64 [n]."""
    module = importlib.import_module(f"scripts.attacks.{REGISTRY[attack].get('module', attack)}")
    result = module.score(texts, **parameters)
    return result.scores if isinstance(result, Scored) else result
