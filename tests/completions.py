"""A stand-in for a completions server, in the shape of vLLM's /v1/completions with `echo`.

It runs a small model with transformers, on the spot, and says what vLLM would: the tokens of the
prompt and one generated token, each with its log-prob (the first has none) and the largest one.

    with Completions(folder) as server:
        server.url                  what the entry's `url` must be
        server.prompts              each prompt that was answered, as token ids, in order
        server.trials               likewise, where tokens were asked for by name
        server.faults.append(…)     a function of the handler (its `prompt` is what was asked);
                                    True: it has answered, or hung up
        server.stop(), .start()     on the same port: a server that dies and comes back
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

NAME = "ns/tiny"


@dataclass
class Completions:
    """The server; see the module's docstring."""

    folder: Path
    context: int | None = None  # max_model_len, where it is told
    takes_ids: bool = True
    tell_top: bool = True
    strict: bool = False  # refuse keys that OpenAI does not have
    by_number: bool = True  # vLLM's return_tokens_as_token_ids
    generated_only: bool = False
    shifted: bool = False  # each token with the distribution behind it, as llama-cpp-python
    prompts: list[tuple[int, ...]] = field(default_factory=list)
    trials: list[tuple[int, ...]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    faults: list[Callable] = field(default_factory=list)

    def __post_init__(self):
        self.model = AutoModelForCausalLM.from_pretrained(self.folder, dtype=torch.float32).eval()
        self.tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        self.lock = threading.Lock()
        self.port = 0

    def __enter__(self) -> "Completions":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        handler = type("Handler", (_Handler,), {"owner": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def complete(self, ids: list[int], numbered: bool = False) -> dict:
        """What the server says of a prompt; `numbered`: tokens by number."""
        with self.lock, torch.inference_mode():
            logp = self.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        shown = [*ids, int(logp[-1].argmax())]
        if self.shifted:
            logp = torch.cat([logp[1:], logp[-1:]])
        own = [None, *(float(logp[i, token]) for i, token in enumerate(shown[1:]))]
        names = [self._name(token, numbered) for token in shown]
        tops = [None]
        for i, token in enumerate(shown[1:]):
            best = int(logp[i].argmax())
            # As vLLM does: the largest, and the token itself where it is another.
            pairs = {best: float(logp[i, best]), token: own[i + 1]}
            tops.append({self._name(key, numbered): value for key, value in pairs.items()})
        kept = slice(-1, None) if self.generated_only else slice(None)
        return {
            "object": "text_completion",
            "model": NAME,
            "choices": [
                {
                    "index": 0,
                    "text": "",
                    "logprobs": {
                        "tokens": names[kept],
                        "token_logprobs": own[kept],
                        "top_logprobs": tops[kept] if self.tell_top else None,
                        "text_offset": [0] * len(names[kept]),
                    },
                    "finish_reason": "length",
                }
            ],
            "usage": {"prompt_tokens": len(ids), "completion_tokens": 1},
        }

    def _name(self, token: int, numbered: bool) -> str:
        if numbered:
            return f"token_id:{token}"
        return self.tokenizer.decode([token], skip_special_tokens=False)


class _Handler(BaseHTTPRequestHandler):
    owner: Completions
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self.say(404, {"error": {"message": "no such path"}})
            return
        entry = {"id": NAME, "object": "model"}
        if self.owner.context:
            entry["max_model_len"] = self.owner.context
        self.say(200, {"object": "list", "data": [entry]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.prompt = body["prompt"]
        self.owner.authorizations.append(self.headers.get("Authorization"))
        for fault in list(self.owner.faults):
            if fault(self):
                return
        prompt = body["prompt"]
        if isinstance(prompt, str):
            prompt = self.owner.tokenizer.encode(prompt).ids
        elif not self.owner.takes_ids:
            self.say(422, {"error": {"message": "prompt: Input should be a valid string"}})
            return
        assert body["echo"] and body["logprobs"] == 1 and body["model"] == NAME
        numbered = body.pop("return_tokens_as_token_ids", False)
        if numbered and self.owner.strict:
            self.say(400, {"error": {"message": "Unrecognized request argument supplied"}})
            return
        if self.owner.context and len(prompt) + body["max_tokens"] > self.owner.context:
            self.say(400, {"error": {"message": "maximum context length exceeded"}})
            return
        answer = self.owner.complete(prompt, numbered and self.owner.by_number)
        with self.owner.lock:
            (self.owner.prompts if numbered else self.owner.trials).append(tuple(prompt))
        self.say(200, answer)

    def say(self, status: int, content: dict, headers: dict | None = None) -> bool:
        data = json.dumps(content).encode()
        self.send_response(status)
        for key, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)
        return True


def times(count: int, fault: Callable) -> Callable:
    """`fault` for the first `count` requests only."""
    left = [count]

    def limited(handler) -> bool:
        with handler.owner.lock:
            left[0] -= 1
            if left[0] < 0:
                return False
        return fault(handler)

    return limited


def status(code: int, **headers: str) -> Callable:
    """A fault: this status, with headers (Retry_After for Retry-After)."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda handler: handler.say(code, {"error": {"message": "not now"}}, named)


def hang(seconds: float) -> Callable:
    """A fault: no answer for a while, then none at all."""

    def fault(handler) -> bool:
        time.sleep(seconds)
        handler.close_connection = True
        return True

    return fault
