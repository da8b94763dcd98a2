"""Score texts: token statistics in, one score per text and setting of an attack out."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

import numpy as np
import pyarrow as pa

from scripts.attacks.batch import Batch, Scored
from scripts.batches import Files, read
from scripts.cli import arguments, run
from scripts.contracts.scores import SCORES, UNSCORED
from scripts.contracts.table import provenance
from scripts.errors import UserError
from scripts.seeds import derive

OTHERS = ("tags", "counts", "gradients", "generations")


def main() -> None:
    """Score one dataset under one model with all settings of one attack."""
    args = arguments(__doc__, ["tokens", "texts", "scores"], [*OTHERS, "views", "references"])
    settings = args.settings
    seed = derive(settings["seed"], "score", settings["dataset"])
    files = Files(
        args.tokens,
        args.texts,
        **{name: getattr(args, name) for name in OTHERS},
        views=dict(zip(settings["views"], args.views, strict=True)),
        references=dict(zip(settings["references"], args.references, strict=True)),
    )
    ids, batches = read(files, settings["columns"], seed)
    module = importlib.import_module(f"scripts.attacks.{settings['attack']}")
    columns, unscored, fallback = score_all(module, batches, len(ids), settings["settings"])
    provenance_of_scores = {
        **settings,
        "unscored": dict.fromkeys(columns, unscored),
        "fallback": fallback,
        "tokens": provenance(args.tokens),
    }
    SCORES.write(args.scores, pa.table({"text_id": ids, **columns}), provenance_of_scores)


def score_all(
    module: ModuleType,
    batches: Iterable[tuple[np.ndarray, Batch]],
    texts: int,
    settings: Mapping[str, Mapping[str, object]],
) -> tuple[dict[str, np.ndarray], int, dict[str, int]]:
    """Scores per setting, float64 [texts], with two counts.

    The first is of the texts in no batch, which get UNSCORED; the second, per setting, of those
    that the attack's own rule decided. ValueError where a score is not a finite number.
    """
    columns = {setting: np.full(texts, UNSCORED) for setting in settings}
    fallback = dict.fromkeys(settings, 0)
    unscored = texts
    for places, batch in batches:
        unscored -= len(places)
        for setting, parameters in settings.items():
            scores = _call(module.score, setting, parameters, batch)
            if isinstance(scores, Scored):
                fallback[setting] += int(np.sum(scores.fallback))
                scores = scores.scores
            _check(scores, setting, batch)
            columns[setting][places] = scores
    return columns, unscored, fallback


def _call(
    score: Callable[..., np.ndarray | Scored],
    setting: str,
    parameters: Mapping[str, object],
    batch: Batch,
) -> np.ndarray | Scored:
    try:
        inspect.signature(score).bind(batch, **parameters)
    except TypeError as error:
        valid = ", ".join(list(inspect.signature(score).parameters)[1:]) or "none"
        raise UserError(f"attack {setting}: {error}; its parameters: {valid}") from None
    try:
        return score(batch, **parameters)
    except UserError as error:
        raise UserError(f"attack {setting}: {error}") from None


def _check(scores: np.ndarray, setting: str, batch: Batch) -> None:
    if scores.shape != (len(batch),) or scores.dtype != np.float64:
        raise ValueError(f"{setting}: {scores.dtype} {scores.shape}, not float64 ({len(batch)},)")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        text, value = batch.text_ids[wrong[0]], scores[wrong[0]]
        raise UserError(
            f"attack {setting}: the score of text '{text}' is {value}; a score is a finite number: "
            "give such texts a stated value (scripts.attacks.batch.Scored counts them)"
        )


if __name__ == "__main__":
    run(main)
