"""An OpenAI-compatible completions server that gives log-probs of the prompt (vLLM, SGLang, …).

Asked with `echo`, so that the prompt's own tokens come back with their log-probs; the one token
that servers insist on generating is dropped.
"""

import math
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import requests

from scripts.errors import UserError

GENERATED = 1  # tokens that are asked for behind the prompt: vLLM refuses 0
PASSING = {408, 425, 429, 500, 502, 503, 504}
WAITS = (1, 2, 4, 8, 16, 32)  # seconds before a request is made again
# vLLM's own: tokens are named by number. Decoded, two different ones can have the same name.
NUMBERED = {"return_tokens_as_token_ids": True}
STRICT = (400, 422)  # statuses of a server that takes no keys but OpenAI's
LONGEST = 300  # seconds that a server may ask to wait
CONNECT = 10  # seconds


@dataclass(frozen=True)
class Answer:
    """What a server says of a prompt: an entry per token, of which the first has no log-prob."""

    logprobs: Sequence[float | None]
    tokens: Sequence[str] | None
    tops: Sequence[dict[str, float] | None] | None
    counted: int | None  # tokens of the prompt, as the server counts them


class RefusedError(UserError):
    """A status that will not pass."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


class Endpoint:
    """One model at one server."""

    def __init__(self, url: str, model: str, key: str, timeout: float):
        self.url = url.rstrip("/")
        self.model = model
        self._key = key
        self._timeout = timeout
        self._local = threading.local()
        self._stopped = threading.Event()
        self._numbers = True

    def stop(self) -> None:
        """Ask for nothing again: threads that wait to do so end at once."""
        self._stopped.set()

    def context(self) -> int | None:
        """Tokens that the model reads at once, where the server says so.

        UserError where it lists its models and this one is not among them.
        """
        found = self._request("GET", "models", may_lack=True)
        models = found.get("data", []) if isinstance(found, dict) else []
        by_name = {entry.get("id"): entry for entry in models if isinstance(entry, dict)}
        if by_name and self.model not in by_name:
            names = ", ".join(map(str, list(by_name)[:5]))
            raise UserError(f"{self.url} has no model '{self.model}'; it has: {names}")
        return by_name.get(self.model, {}).get("max_model_len")

    def ask(self, prompt: Sequence[int] | str, named: bool = False) -> Answer:
        """Log-probs of the tokens of `prompt`; thread-safe.

        Tokens come back by number where the server knows how to, unless they are to be `named`.
        """
        body = {
            "model": self.model,
            "prompt": prompt if isinstance(prompt, str) else list(map(int, prompt)),
            "echo": True,
            "logprobs": 1,
            "max_tokens": GENERATED,
            "temperature": 0,
        }
        found = self._numbered(body) if self._numbers and not named else None
        if found is None:
            found = self._request("POST", "completions", body)
        try:
            logprobs = found["choices"][0]["logprobs"]
            counted = (found.get("usage") or {}).get("prompt_tokens")
            return Answer(
                (logprobs or {}).get("token_logprobs") or [],
                (logprobs or {}).get("tokens"),
                (logprobs or {}).get("top_logprobs"),
                counted,
            )
        except (KeyError, IndexError, TypeError, AttributeError):
            raise UserError(
                f"{self.url}/completions does not answer as an OpenAI-compatible completions "
                "server does; check `url`"
            ) from None

    def _numbered(self, body: dict) -> dict | None:
        """The answer with tokens by number; None from a server that does not know the key."""
        try:
            return self._request("POST", "completions", {**body, **NUMBERED})
        except RefusedError as error:
            if error.status not in STRICT:
                raise
            self._numbers = False
            return None

    def _request(self, method: str, path: str, body: dict | None = None, may_lack: bool = False):
        """The JSON that the server answers; asked for again where it fails for a moment."""
        url = f"{self.url}/{path}"
        for wait in (*WAITS, None):
            asked_to_wait = 0.0
            try:
                response = self._session().request(
                    method, url, json=body, timeout=(CONNECT, self._timeout), allow_redirects=False
                )
                if response.ok and not response.is_redirect:
                    return response.json()
                if may_lack and response.status_code in (404, 405, 501):
                    return None
                if response.status_code not in PASSING:
                    raise RefusedError(f"{url}: {self._refusal(response)}", response.status_code)
                failure = self._refusal(response)
                seconds = response.headers.get("Retry-After", "")
                asked_to_wait = min(float(seconds), LONGEST) if seconds.isdigit() else 0.0
            except requests.Timeout:
                failure = f"no answer within {self._timeout:g} s"
            except requests.JSONDecodeError:
                failure = "an answer that is no JSON"
            except requests.RequestException as error:  # refused, cut, reset
                failure = type(error).__name__
            pause = max((wait or 0) * random.uniform(0.5, 1), asked_to_wait)  # not all at once
            if wait is None or self._stopped.wait(pause):
                break
        raise UserError(
            f"{url}: {len(WAITS) + 1} times in a row {failure}; what was answered is kept: run "
            "again when the server is back"
        )

    def _refusal(self, response: requests.Response) -> str:
        """A status and what the server says with it, without the key."""
        said = " ".join(response.text.split())[:300]
        said = said.replace(self._key, "(key)") if self._key else said
        hint = ""
        if response.status_code in (401, 403):
            hint = "; set the key in the environment (`key_variable` of the model's entry)"
        if response.status_code == 404:
            hint = "; is its `url` right (it ends in /v1), and does it serve the entry's `model`?"
        return f"status {response.status_code}{hint} ({said or 'no further word'})"

    def _session(self) -> requests.Session:
        """A session of this thread; its own `auth` also keeps requests from reading ~/.netrc."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.auth = self._authorize
        return self._local.session

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


def log_probs(answer: Answer, count: int) -> list[float]:
    """Log-probs of a prompt of `count` tokens, from its second token on.

    UserError where the server does not give one for each of these tokens.
    """
    given = answer.logprobs
    if len(given) <= GENERATED < count:
        raise UserError(
            "the server gives log-probs of generated tokens only, not of the prompt (`echo`), so "
            "nothing can be measured on it; vLLM and SGLang give them"
        )
    if not count <= len(given) <= count + GENERATED or answer.counted not in (None, count):
        raise UserError(
            f"a prompt of {count} tokens came back with {len(given)} log-probs and "
            f"{answer.counted if answer.counted is not None else 'no'} tokens counted: the server "
            "tokenises otherwise than `tokenizer` of the model's entry, or cuts the prompt"
        )
    found = list(given[1:count])
    if not all(isinstance(x, int | float) and math.isfinite(x) for x in found):
        raise UserError("the server leaves out the log-prob of some tokens of the prompt")
    return found


def largest_log_probs(answer: Answer, count: int) -> list[float]:
    """The largest log-prob at each token of a prompt of `count` tokens, from its second on.

    UserError where the server does not give it, or not certainly: a log-prob of the token itself
    stands under its name, and pieces of characters all have the same one.
    """
    found = []
    tops = (answer.tops or [])[1:count]
    if len(tops) < count - 1 or not all(tops):
        raise UserError("the server gives no largest log-probs; set `top: false` in the entry")
    for own, top in zip(log_probs(answer, count), tops, strict=True):
        [name, *others] = top
        if not others and (not name or "\ufffd" in name):
            raise UserError(
                "the server names tokens by their text, which is the same for all pieces of "
                "characters, so the largest log-prob at one is not known; set `top: false`"
            )
        found.append(max(*top.values(), own))
    return found
