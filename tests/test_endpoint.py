"""Token statistics from a server: right numbers, faults, resuming, and a key that stays secret."""

import json
import random

import numpy as np
import pyarrow as pa
import pytest
import torch
from tokenizers import Tokenizer, processors
from transformers import AutoModelForCausalLM

from scripts import ask, tokens
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import TOKENS
from scripts.errors import UserError
from scripts.extraction.answers import Answers
from scripts.models import endpoint
from tests import tiny_model
from tests.completions import NAME, Completions, hang, status, times

CONTEXT = 96
PLAIN = ["the union is strong", "state", "of the union"]  # no token that is a piece of a character
KEY = "sk-this-must-never-be-seen-0123456789"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    return tiny_model.build(folder, hidden=16, layers=2, context=CONTEXT)


@pytest.fixture(scope="module")
def served(model):
    with Completions(model) as server:
        yield server


@pytest.fixture
def server(served, monkeypatch):
    monkeypatch.setattr(endpoint, "WAITS", (0.01, 0.02, 0.05))
    yield served
    served.prompts.clear()
    served.trials.clear()
    served.authorizations.clear()
    served.faults.clear()
    served.context, served.takes_ids, served.tell_top = None, True, True
    served.generated_only, served.shifted = False, False
    served.strict, served.by_number = False, True


def some_texts(n=24, longest=9, seed=0):
    draw = random.Random(seed)
    return [
        "",
        "x",
        *(" ".join(draw.choices(tiny_model.WORDS, k=draw.randint(1, longest))) for _ in range(n)),
    ]


@pytest.fixture
def run(model, monkeypatch, capsys, tmp_path):
    """Run the step in this process; the file it wrote."""

    def step(server, texts, timeout=20, concurrency=4, key=None, folder=model, out="o", **settings):
        given = {"view": "original", "overflow": "truncate", "served": NAME, "prompt": "ids"}
        given |= {"top": True, "context": None, **settings}
        where = {"url": server.url, "concurrency": concurrency, "timeout": timeout}
        where |= {"key_variable": "MY_KEY"}
        monkeypatch.setenv("PRETRACE_SERVER", json.dumps(where))
        if key is None:
            monkeypatch.delenv("MY_KEY", raising=False)
        else:
            monkeypatch.setenv("MY_KEY", key)
        path = tmp_path / f"{out}.parquet"
        tiny_model.run_step(ask, monkeypatch, given, model=folder, texts=texts, tokens=path)
        return path

    return step


@pytest.fixture
def extract(model, monkeypatch, tmp_path):
    """The pass itself, with the same weights."""

    def step(texts, **settings):
        path = tmp_path / "pass.parquet"
        given = {"view": "original", **settings}
        tiny_model.run_step(tokens, monkeypatch, given, model=model, texts=texts, tokens=path)
        return TOKENS.read(path)

    return step


def same(asked, read, columns=("logprob", "top_logprob")):
    for name in ("text_id", "variant", "token_id", "start", "end"):
        assert asked[name].equals(read[name]), name
    for name in columns:
        for one, other in zip(asked[name].to_pylist(), read[name].to_pylist(), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("prompt", ["ids", "text"])
def test_log_probs_are_those_of_the_weights(model, server, run, tmp_path, prompt):
    texts = some_texts()
    path = run(server, tiny_model.write_texts(tmp_path / "t.parquet", texts), prompt=prompt)
    table = TOKENS.read(path)
    # What a server does not tell is not there: no zeros to be read by mistake.
    assert table.column_names[-2:] == ["logprob", "top_logprob"]
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float64)
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    for text, row in zip(texts, table.to_pylist(), strict=True):
        encoding = tokenizer.encode(text)
        assert row["token_id"] == encoding.ids[1:]
        assert list(zip(row["start"], row["end"], strict=True)) == encoding.offsets[1:]
        if len(encoding.ids) > 1:
            with torch.no_grad():
                logp = network(torch.tensor([encoding.ids])).logits[0, :-1].log_softmax(-1)
            own = logp.gather(1, torch.tensor(encoding.ids[1:])[:, None])[:, 0]
            np.testing.assert_allclose(row["logprob"], own, atol=1e-5)
            np.testing.assert_allclose(row["top_logprob"], logp.max(-1).values, atol=1e-5)
    footer = provenance(path)
    assert (footer["backend"], footer["access"], footer["truncated"]) == ("endpoint", "top", 0)
    assert footer["endpoint"]["model"] == NAME
    # One prompt for each text that has a token to score.
    assert len(server.prompts) == sum(len(tokenizer.encode(text).ids) > 1 for text in texts)


def test_without_the_largest(server, run, tmp_path):
    server.tell_top = False
    texts = tiny_model.write_texts(tmp_path / "t.parquet", some_texts(4))
    assert TOKENS.read(run(server, texts, top=False)).column_names[-1] == "logprob"
    with pytest.raises(UserError, match="no largest log-probs; set `top: false`"):
        run(server, texts, out="other")


@pytest.mark.parametrize("overflow", ["truncate", {"window": 7}, {"truncate": 11}])
def test_long_texts_are_cut_or_read_in_windows_as_in_the_pass(
    server, run, extract, tmp_path, overflow
):
    server.context = 20
    texts = tiny_model.write_texts(tmp_path / "t.parquet", [*some_texts(8), "our union " * 12])
    asked = run(server, texts, overflow=overflow)
    # A prompt must leave room for the token that the server generates.
    assert max(map(len, server.prompts)) == (11 if overflow == {"truncate": 11} else 19)
    if overflow == {"window": 7}:
        # Windows of 18 inputs and the token they predict, read with the model by hand.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tokens.Backbone, "context", 18)
            same(TOKENS.read(asked), extract(texts, overflow=overflow))
        return
    limit = {"truncate": 11 if overflow == {"truncate": 11} else 19}
    same(TOKENS.read(asked), extract(texts, overflow=limit))
    assert provenance(asked)["truncated"] >= 1


def test_the_entry_says_the_context_where_the_server_does_not(server, run, extract, tmp_path):
    texts = tiny_model.write_texts(tmp_path / "t.parquet", ["our union " * 20])
    same(TOKENS.read(run(server, texts, context=16)), extract(texts, overflow={"truncate": 15}))


def test_text_is_cut_where_it_keeps_its_tokens(model, server, run, tmp_path):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    text = "strong union of state " * 4
    full = tokenizer.encode(text).ids
    texts = tiny_model.write_texts(tmp_path / "t.parquet", [text, "the union"])
    for limit in range(4, 12):
        server.prompts.clear()
        out = run(server, texts, prompt="text", overflow={"truncate": limit}, out=f"o{limit}")
        sent = max(server.prompts, key=len)
        assert 1 < len(sent) <= limit and list(sent) == full[: len(sent)]
        assert TOKENS.read(out)["token_id"][0].as_py() == full[1 : len(sent)]


def test_texts_behind_a_prefix(server, run, extract, tmp_path):
    texts = some_texts(6)
    column = pa.array([["the union.\n", "so it is,\n"]] * len(texts), pa.list_(pa.string()))
    plain = tiny_model.write_texts(tmp_path / "plain.parquet", texts)
    table = TEXTS.read(plain).append_column("prefix", column)
    TEXTS.write(tmp_path / "t.parquet", table, {})
    asked = run(server, tmp_path / "t.parquet")
    same(TOKENS.read(asked), extract(tmp_path / "t.parquet"))
    assert provenance(asked)["shots"] == {"2": len(texts)}
    with pytest.raises(UserError, match="cannot be sent as text: behind a prefix"):
        run(server, tmp_path / "t.parquet", prompt="text", out="other")


@pytest.mark.parametrize(
    "fault",
    [
        status(429, Retry_After="0"),
        status(500),
        status(503),
        hang(0.6),
        lambda h: h.connection.close() or True,
    ],
)
def test_faults_that_pass_end_in_the_right_data(server, run, extract, tmp_path, fault):
    texts = tiny_model.write_texts(tmp_path / "t.parquet", some_texts(8))
    server.faults.append(times(3, fault))
    same(TOKENS.read(run(server, texts, timeout=0.5, concurrency=2)), extract(texts))
    assert len(set(server.prompts)) == len(server.prompts)


def test_a_server_that_asks_to_wait_is_waited_for(server, monkeypatch):
    waited = []
    server.faults.append(times(1, status(429, Retry_After="7")))
    monkeypatch.setattr(
        endpoint.threading.Event, "wait", lambda self, seconds=None: waited.append(seconds)
    )
    asked = endpoint.Endpoint(server.url, NAME, "", 20).ask([66, 67, 68])
    assert 7.0 in waited and len(asked.logprobs) == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: setattr(s, "generated_only", True), "log-probs of generated tokens only"),
        (
            lambda s: setattr(s, "shifted", True),
            "the server gives each token what belongs to the next",
        ),
        (lambda s: setattr(s, "takes_ids", False), "status 422 .*valid string"),
        (lambda s: s.faults.append(status(401)), "status 401; set the key in the environment"),
        (lambda s: s.faults.append(status(302, Location="http://127.0.0.1:9")), "status 302"),
        (
            lambda s: s.faults.append(status(500)),
            "4 times in a row status 500 .*not now.*; what was answered",
        ),
        (lambda s: s.faults.append(lambda h: h.say(200, {"a": 1})), "does not answer as an OpenAI"),
        (lambda s: s.faults.append(short), "a prompt of [0-9]+ tokens came back with [0-9]+ log"),
        (lambda s: s.faults.append(holes), "leaves out the log-prob of some tokens"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line_after_one_prompt(
    server, run, tmp_path, change, says
):
    texts = tiny_model.write_texts(tmp_path / "t.parquet", some_texts(8))
    change(server)
    with pytest.raises(UserError, match=says):
        run(server, texts)
    assert not server.prompts and len(server.trials) <= 4  # no text was paid for
    assert not (tmp_path / "o.parquet").exists()


def short(handler):
    """A server that cuts prompts."""
    return handler.say(200, handler.owner.complete(handler.prompt[:-2]))


def holes(handler):
    """A server that says nothing of one token."""
    answer = handler.owner.complete(handler.prompt)
    answer["choices"][0]["logprobs"]["token_logprobs"][2] = None
    return handler.say(200, answer)


@pytest.mark.parametrize(("name", "value"), [("strict", True), ("by_number", False)])
def test_a_server_that_names_tokens_by_text_only(server, run, extract, tmp_path, name, value):
    """One that refuses what OpenAI's does not know, as OpenAI's, and one that ignores it."""
    setattr(server, name, value)
    texts = tiny_model.write_texts(tmp_path / "t.parquet", PLAIN)
    asked = TOKENS.read(run(server, texts))
    same(asked, extract(texts))
    assert len(server.trials) + len(server.prompts) == 4 + 3
    # What has a name of its own is certain, and the rest is refused.
    pieces = tiny_model.write_texts(tmp_path / "pieces.parquet", ["the \U0001f642\U0001f643 union"])
    with pytest.raises(UserError, match="same for all pieces of characters.*set `top: false`"):
        run(server, pieces, out="p")
    same(TOKENS.read(run(server, pieces, top=False, out="p")), extract(pieces), ["logprob"])


def test_an_unknown_model_is_named_with_those_that_are_there(server, run, tmp_path):
    texts = tiny_model.write_texts(tmp_path / "t.parquet", ["the union"])
    with pytest.raises(UserError, match="has no model 'other'; it has: ns/tiny"):
        run(server, texts, served="other")


def test_another_tokenizer_is_found_out(model, server, run, tmp_path):
    """A local vocabulary of the same size with other tokens: all counts fit, the names do not."""
    folder = tmp_path / "other"
    folder.mkdir()
    content = json.loads((model / "tokenizer.json").read_text())
    vocabulary = content["model"]["vocab"]
    vocabulary["A"], vocabulary["B"] = vocabulary["B"], vocabulary["A"]
    (folder / "tokenizer.json").write_text(json.dumps(content))
    texts = tiny_model.write_texts(tmp_path / "t.parquet", ["xAx"])
    with pytest.raises(UserError, match="v1: token 1 is 'B' at the server and 'A' in"):
        run(server, texts, folder=folder)
    # With text, a token more on this side: the counts differ.
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(UserError, match="a prompt of 4 tokens came back with 4 log-probs and 3"):
        run(server, texts, folder=folder, prompt="text")


def test_a_server_killed_midway_is_asked_nothing_twice(
    model, run, extract, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(endpoint, "WAITS", (0.01, 0.01))
    texts = tiny_model.write_texts(tmp_path / "t.parquet", sorted(set(some_texts(40))))
    with Completions(model) as server:
        for most in (7, 19):

            def die(handler, most=most):
                if len(server.prompts) >= most:
                    handler.close_connection = True
                    handler.connection.close()
                    return True
                return False

            server.faults[:] = [die]
            with pytest.raises(UserError, match="what was answered is kept: run again"):
                run(server, texts, concurrency=3, context=CONTEXT)
            assert most <= len(server.prompts) <= most + 2
            assert not (tmp_path / "o.parquet").exists()
            server.stop()
            capsys.readouterr()
            with pytest.raises(UserError, match="ConnectionError"):
                run(server, texts, concurrency=3, context=CONTEXT)
            # All that was answered was kept, also by threads that were under way at the end.
            assert f"answered before: {len(server.prompts)}\n" in capsys.readouterr().err
            server.start()
        server.faults.clear()
        out = run(server, texts, concurrency=3, context=CONTEXT)
    assert len(set(server.prompts)) == len(server.prompts)
    assert len(server.prompts) == sum(
        len(row) > 0 for row in TOKENS.read(out)["token_id"].to_pylist()
    )
    same(TOKENS.read(out), extract(texts))
    assert not list(tmp_path.glob(".o.parquet*"))  # the answers went


def test_a_line_cut_short_by_a_kill_does_not_count(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    answers.keep(3, [[-1.5, -2.0]])
    answers.keep(4, [[-0.5]])
    path.write_bytes(path.read_bytes()[:-4])
    again = Answers(path)
    assert again.found == {3: [[-1.5, -2.0]]}
    again.keep(5, [[-7.0]])
    assert Answers(path).found == {3: [[-1.5, -2.0]], 5: [[-7.0]]}


def test_the_estimate_stands_before_the_first_request(server, run, tmp_path, capsys):
    texts = tiny_model.write_texts(tmp_path / "t.parquet", ["ABC", "ABCDE", "A"])
    server.faults.append(status(400))
    with pytest.raises(UserError):
        run(server, texts)
    said = capsys.readouterr().err
    assert "to ask: 2 prompts of 8 tokens, and 2 generated, for 3 texts; answered before: 0" in said


def test_the_key_is_sent_and_never_shown(server, run, tmp_path, capsys):
    texts = tiny_model.write_texts(tmp_path / "t.parquet", some_texts(5))
    out = run(server, texts, key=f" {KEY}\n")
    assert set(server.authorizations) == {f"Bearer {KEY}"}
    said = [capsys.readouterr().err]
    server.faults.append(
        lambda handler: handler.say(401, {"error": {"message": f"wrong key: {KEY}"}})
    )
    with pytest.raises(UserError, match=r"wrong key: \(key\)") as caught:
        run(server, texts, key=KEY, out="other")
    said += [capsys.readouterr().err, str(caught.value), repr(provenance(out))]
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path
    assert all(KEY not in text for text in said)
    with pytest.raises(UserError, match="MY_KEY holds what cannot be a key") as caught:
        run(server, texts, key=f"{KEY}\nx", out="third")
    assert KEY not in str(caught.value)
    server.faults.clear()
    run(server, texts, out="none")
    assert server.authorizations[-1] is None
