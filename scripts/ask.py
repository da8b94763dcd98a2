"""Ask a server for the log-probs of a dataset's texts: what the pass is to a model that runs here.

In: the folder of the model's tokenizer.json, and texts (contract TEXTS). Out: contract TOKENS with
the log-prob of each token and, where it is asked for, the largest one; no other statistic is known.
Where the server is and how many requests it takes at a time stands in PRETRACE_SERVER (JSON), for
it does not decide what is answered; the key is in the environment variable that it names.

Settings: model, dataset, view; overflow (scripts.extraction.overflow); served (the model's name at
the server), prompt (ids or text), top, context. Texts with a `prefix` are read behind it.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from scripts.cli import arguments, run
from scripts.contracts.tokens import TOKENS
from scripts.errors import UserError
from scripts.extraction.answers import Answers
from scripts.extraction.batching import Budget
from scripts.extraction.inputs import Inputs, read_inputs
from scripts.extraction.overflow import Overflow, parse_overflow
from scripts.extraction.planning import Plan, plan
from scripts.extraction.prompts import Prompt, Surfaces, prompts, whole_words
from scripts.extraction.rows import token_rows
from scripts.extraction.shots import Fitted, fitted_prefixes
from scripts.extraction.trial import trials, try_out
from scripts.models.endpoint import (
    GENERATED,
    Answer,
    Endpoint,
    largest_log_probs,
    log_probs,
)
from scripts.progress import bar
from scripts.resumable import resumable

ONE_BY_ONE = Budget(batch=1, early=1, part=1)


def main() -> None:
    """Write the token statistics of one (model, dataset, view)."""
    args = arguments(__doc__, ["model", "texts", "tokens"])
    settings = args.settings
    server = json.loads(os.environ["PRETRACE_SERVER"])
    endpoint = Endpoint(
        server["url"], settings["served"], _key(server["key_variable"]), server["timeout"]
    )
    inputs = read_inputs(args.model, args.texts)
    context = settings["context"] or endpoint.context()
    # Tokens of a prompt: the server wants room for those that it generates.
    room = None if context is None else context - GENERATED
    overflow = parse_overflow(settings["overflow"], room and room - 1, False)
    planned, fitted, truncated = _plan(inputs, overflow, room, settings["prompt"] == "text")
    facts = {"settings": settings, "tokenizer": inputs.about["tokenizer"], "context": context}
    with resumable(args.tokens, _digest(args.texts, facts)) as folder:
        statistics = _statistics(
            planned, Answers(folder / "answers.jsonl"), inputs, endpoint, settings, server
        )
        known = "top" if settings["top"] else "token"
        TOKENS.write(
            args.tokens,
            token_rows(inputs.texts, planned.encoded, statistics, None),
            {
                **{key: settings[key] for key in ("model", "dataset", "view", "overflow")},
                **inputs.about,
                "backend": "endpoint",
                "access": known,
                "endpoint": {
                    "url": endpoint.url,
                    "model": endpoint.model,
                    "prompt": settings["prompt"],
                    "context": context,
                },
                "truncated": truncated,
                **({"shots": fitted.texts_by_shots()} if fitted else {}),
            },
        )


def _key(variable: str) -> str:
    """The key, from the environment alone; empty where the server wants none."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):  # an HTTP library would print it in its error
        raise UserError(f"the environment variable {variable} holds what cannot be a key")
    return key


def _plan(
    inputs: Inputs, overflow: Overflow, room: int | None, as_text: bool
) -> tuple[Plan, Fitted | None, int]:
    """What is asked, behind which prefixes, and how many texts are cut."""
    texts, encoded = inputs.texts, inputs.encoded
    truncated = overflow.truncated(np.diff(encoded.bounds))
    if as_text:
        if overflow.window is not None:
            raise UserError("overflow: window needs prompts of token ids (`prompt: ids`)")
        if "token_ids" in texts.column_names:
            raise UserError("a dataset of token ids needs prompts of token ids (`prompt: ids`)")
        strings = texts["text"].to_pylist()
        encoded = whole_words(inputs.tokenizer, strings, encoded, overflow.limit)
    if truncated:
        _log(f"{truncated} of {len(texts)} texts are cut to {overflow.limit} tokens")
    fitted = fitted_prefixes(texts, encoded, inputs.tokenizer, overflow, room and room - 1, _log)
    behind = fitted and (fitted.prefixes, fitted.of_text)
    return plan(encoded, overflow, ONE_BY_ONE, behind), fitted, truncated


def _statistics(
    planned: Plan,
    answers: Answers,
    inputs: Inputs,
    endpoint: Endpoint,
    settings: Mapping,
    server: Mapping,
) -> np.ndarray:
    """Statistics [1 or 2, tokens] by flat position; those that are not scored hold NaN."""
    asked = prompts(planned)
    kinds = (log_probs, largest_log_probs) if settings["top"] else (log_probs,)
    sending = {
        number: _as_text(prompt, inputs, planned) if settings["prompt"] == "text" else prompt.ids
        for number, prompt in enumerate(asked)
        if number not in answers.found
    }
    tokens = sum(len(asked[number].ids) for number in sending)
    _log(
        f"to ask: {len(sending):,} prompts of {tokens:,} tokens, and {GENERATED * len(sending):,} "
        f"generated, for {len(inputs.texts):,} texts; answered before: {len(answers.found):,}"
    )
    surfaces = Surfaces(inputs.tokenizer)

    def read(sent: Sequence[int] | str, ids: list[int], named: bool = True) -> Answer:
        answer = endpoint.ask(sent, named)
        try:
            log_probs(answer, len(ids))
            surfaces.refuse_others(answer.tokens, ids)
        except UserError as error:
            raise UserError(f"{endpoint.url}: {error}") from None
        return answer

    def one(number: int) -> tuple[int, list[list[float]]]:
        prompt = asked[number]
        try:
            answer = read(sending[number], prompt.ids.tolist(), named=False)
            found = [kind(answer, len(prompt.ids)) for kind in kinds]
        except UserError as error:
            name = inputs.texts["text_id"][prompt.text].as_py()
            raise UserError(f"text {name}: {error}") from None
        return number, [row[prompt.skip - 1 :] for row in found]

    with bar(what=settings["view"], unit="tok", total=tokens, seconds=30) as progress:
        try:
            if sending:
                first, as_text = asked[min(sending)].ids.tolist(), settings["prompt"] == "text"
                try_out(read, trials(inputs.tokenizer, first, as_text), endpoint.url)
            for number, found in _concurrently(one, list(sending), server["concurrency"]):
                answers.keep(number, found)
                progress.update(len(asked[number].ids))
        finally:
            endpoint.stop()
    statistics = np.full((len(kinds), len(planned.encoded.ids)), np.nan, np.float32)
    for number, prompt in enumerate(asked):
        values = np.asarray(answers.found[number], np.float32)
        statistics[:, prompt.first : prompt.first + values.shape[1]] = values
    return statistics


def _concurrently(one, numbers: list[int], workers: int) -> Iterator:
    """``one(number)`` for all numbers as they are done; the first, which shows mistakes, alone.

    After an error nothing new is begun, but what is under way is still given back: it was paid for.
    """
    if not numbers:
        return
    yield one(numbers[0])
    pool = ThreadPoolExecutor(workers)
    failure = None
    try:
        waiting = [pool.submit(one, number) for number in numbers[1:]]
        for done in as_completed(waiting):
            if done.cancelled():
                continue
            if done.exception() is None:
                yield done.result()
            elif failure is None:
                failure = done.exception()
                for other in waiting:
                    other.cancel()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failure is not None:
        raise failure


def _as_text(prompt: Prompt, inputs: Inputs, planned: Plan) -> str:
    """The text of a prompt; UserError where it would not be tokenised to the prompt's ids."""
    texts, encoded = inputs.texts, planned.encoded
    last = encoded.bounds[prompt.text + 1] - 1
    text = texts["text"][prompt.text].as_py()[: encoded.end[last]]
    ids = inputs.tokenizer.encode(text).ids
    if "prefix" in texts.column_names or ids != prompt.ids.tolist():
        raise UserError(
            f"text {texts['text_id'][prompt.text].as_py()} cannot be sent as text: behind a prefix "
            "or cut it would be tokenised otherwise; use `prompt: ids`, or leave the attack out"
        )
    return text


def _digest(texts: Path, facts: Mapping) -> str:
    """What decides the answers; the server's address does not."""
    state = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for path in (texts, Path(__file__), Path(log_probs.__code__.co_filename)):
        state.update(hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(main)
