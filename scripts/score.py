"""Score texts: token statistics in, one score per text and setting of an attack out."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa

from scripts.attacks.batch import Batch, Ragged, Scored
from scripts.cli import arguments, run
from scripts.contracts.scores import SCORES, UNSCORED
from scripts.contracts.table import provenance
from scripts.contracts.tags import TAGS
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import TOKENS
from scripts.errors import UserError
from scripts.seeds import derive

# Texts at a time: their numbers stay in the processor's cache. Scores do not depend on it.
BLOCK = 1_000


def main() -> None:
    """Score one dataset under one model with all settings of one attack."""
    args = arguments(__doc__, ["tokens", "texts", "scores"], ["tags"])
    settings = args.settings
    seed = derive(settings["seed"], "score", settings["dataset"])
    ids, batches = read(args.tokens, args.texts, args.tags, settings["columns"], seed)
    module = importlib.import_module(f"scripts.attacks.{settings['attack']}")
    columns, unscored, fallback = score_all(module, batches, len(ids), settings["settings"])
    provenance_of_scores = {
        **settings,
        "unscored": dict.fromkeys(columns, unscored),
        "fallback": fallback,
        "tokens": provenance(args.tokens),
    }
    SCORES.write(args.scores, pa.table({"text_id": ids, **columns}), provenance_of_scores)


def read(
    tokens: Path, texts: Path, tags: Sequence[Path], columns: Sequence[str], seed: int
) -> tuple[list[str], Iterator[tuple[np.ndarray, Batch]]]:
    """All text ids, and batches of the texts that have a scored token, with their places.

    `columns` are names of token statistics, or `text`; nothing else is read. All files must hold
    the same texts in the same order, else ValueError.
    """
    statistics = [name for name in columns if name in TOKENS.required.names]
    of_texts = [name for name in columns if name not in statistics]
    for wrong in set(of_texts) - {"text"}:
        raise UserError(
            f"attacks, columns: no column '{wrong}'; valid: text, {', '.join(TOKENS.aligned)}"
        )
    token_table = TOKENS.read(tokens, ["text_id", *(statistics or ["token_id"])])
    text_table = TEXTS.read(texts, ["text_id", *of_texts])
    tag_table = TAGS.read(tags[0]) if tags else text_table.select(["text_id"])
    ids = text_table["text_id"].to_pylist()
    for table, path in ((token_table, tokens), *((tag_table, path) for path in tags)):
        if table["text_id"].to_pylist() != ids:
            raise ValueError(f"{path} does not hold the texts of {texts} in their order")
    return ids, _batches(token_table, text_table, tag_table, seed)


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


def _batches(
    tokens: pa.Table, texts: pa.Table, tags: pa.Table, seed: int
) -> Iterator[tuple[np.ndarray, Batch]]:
    for start in range(0, texts.num_rows, BLOCK):
        statistics = _lists(tokens.slice(start, BLOCK))
        lengths = next(iter(statistics.values())).lengths
        scored = np.flatnonzero(lengths)
        if len(scored) == 0:
            continue
        offsets = np.concatenate([[0], np.cumsum(lengths[scored])])
        of_texts = texts.slice(start, BLOCK).take(scored)
        batch = Batch(
            text_ids=of_texts["text_id"].to_pylist(),
            columns={name: Ragged(rows.values, offsets) for name, rows in statistics.items()},
            texts=of_texts["text"].to_pylist() if "text" in of_texts.column_names else (),
            tags=_lists(tags.slice(start, BLOCK).take(scored)),
            seed=seed,
        )
        yield start + scored, batch


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
        raise ValueError(f"{setting}: the score of text '{text}' is {value}")


def _lists(table: pa.Table) -> dict[str, Ragged]:
    """The list columns of a table, empty rows included, as float64 or int64."""
    ragged = {}
    for field in table.schema:
        if pa.types.is_list(field.type):
            lists = table[field.name].combine_chunks()
            lengths = lists.value_lengths().to_numpy().astype(np.int64)
            wide = np.float64 if pa.types.is_floating(field.type.value_type) else np.int64
            values = lists.flatten().to_numpy().astype(wide)
            ragged[field.name] = Ragged(values, np.concatenate([[0], np.cumsum(lengths)]))
    return ragged


if __name__ == "__main__":
    run(main)
