"""The pass from end to end on a tiny GPT-NeoX with a byte-level tokenizer made on the spot."""

import json
import multiprocessing
import os
import random
import signal
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

from scripts import tokens
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import STATISTICS, TOKENS
from scripts.errors import UserError
from scripts.extraction.batching import Budget
from scripts.extraction.encoding import load_tokenizer
from scripts.extraction.parts import Parts
from scripts.models.transformers import load
from scripts.resumable import resumable

CONTEXT = 48
WORDS = [
    "the",
    "state",
    "of",
    "our",
    "union",
    "is",
    "strong",
    "naïve",
    "café",
    "日本語",
    "🙂",
    "and,",
    "so",
    "it",
    "goes.\n",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(WORDS)] * 9, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    config = GPTNeoXConfig(
        vocab_size=tokenizer.get_vocab_size() + 7,  # a padded vocabulary
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=CONTEXT,
        initializer_range=0.2,
    )
    GPTNeoXForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def reference(model):
    """An independent computation: float64, one text at a time, on the model's own logits."""
    network = GPTNeoXForCausalLM.from_pretrained(model, dtype=torch.float64)

    def compute(ids):
        if len(ids) < 2:
            return np.zeros((5, 0))
        with torch.no_grad():
            logits = network(torch.tensor([ids[:-1]])).logits[0]
        logp = logits.log_softmax(-1)
        p = logp.exp()
        target = torch.tensor(ids[1:])[:, None]
        mean = (p * logp).sum(-1)
        std = (p * (logp - mean[:, None]) ** 2).sum(-1).sqrt()
        rank = (logits > logits.gather(1, target)).sum(-1)
        rows = [logp.gather(1, target)[:, 0], logp.max(-1).values, mean, std, rank]
        return torch.stack([row.double() for row in rows]).numpy()

    return compute


def write_texts(path, texts, ids=None, footer=None, **columns):
    n = len(texts)
    table = {
        "text_id": [f"t{i}" for i in range(n)],
        "text": texts,
        "label": pa.array([i % 2 for i in range(n)], pa.int8()),
        "group": [f"g{i}" for i in range(n)],
        **columns,
    }
    if ids is not None:
        table["token_ids"] = pa.array(ids, pa.list_(pa.int32()))
    TEXTS.write(path, pa.table(table), footer or {})
    return path


def some_texts(n=60, longest=14, seed=0):
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, longest))) for _ in range(n)]
    return ["", "x", *texts]


@pytest.fixture
def extract(monkeypatch, capsys):
    """Run the step in this process, for importing transformers takes four seconds."""

    def run_step(model, texts, out, *more, settings=None):
        monkeypatch.setattr(sys, "argv", command_line(model, texts, out, *more, settings=settings))
        monkeypatch.setenv("PRETRACE_DEVICE", "cpu")
        tokens.main()
        return capsys.readouterr().err

    return run_step


def command_line(model, texts, out, *more, settings=None):
    settings = {"model": "m", "dataset": "d", "view": "original", **(settings or {})}
    command = ["step", "--texts", str(texts), "--tokens", str(out), *more]
    return [*command, "--model", str(model), "--settings", json.dumps(settings)]


def rows_of(path):
    table = TOKENS.read(path)
    return [
        (
            row["text_id"],
            row["token_id"],
            list(zip(row["start"], row["end"], strict=True)),
            np.array([row[name] for name in STATISTICS], np.float64).reshape(5, -1),
        )
        for row in table.to_pylist()
    ]


def assert_close(got, expected):
    np.testing.assert_allclose(got[:4], expected[:4], atol=1e-5)
    assert np.abs(got[4] - expected[4]).max(initial=0) <= 1


def test_plain_texts_against_float64_with_truncation(model, reference, tmp_path, extract):
    texts = [*some_texts(), " ".join(WORDS * 6)]
    path = write_texts(tmp_path / "texts.parquet", texts)
    log = extract(model, path, tmp_path / "out.parquet")
    tokenizer, digest = load_tokenizer(model)
    for row, (text, (name, ids, spans, got)) in enumerate(
        zip(texts, rows_of(tmp_path / "out.parquet"), strict=True)
    ):
        encoding = tokenizer.encode(text)
        assert name == f"t{row}"
        # All positions are read: one token more than the context, as the last is never read.
        assert ids == encoding.ids[1 : CONTEXT + 1]
        assert spans == encoding.offsets[1 : CONTEXT + 1]
        assert_close(got, reference(encoding.ids[: CONTEXT + 1]))
    footer = provenance(tmp_path / "out.parquet")
    cut = sum(len(tokenizer.encode(text).ids) > CONTEXT + 1 for text in texts)
    assert cut and footer["truncated"] == cut
    assert f"{cut} of {len(texts)} texts are cut to {CONTEXT + 1} tokens" in log
    assert (footer["tokenizer"], footer["dtype"], footer["model"]) == (digest, "float32", "m")


def test_given_ids_are_scored_as_they_are(model, reference, tmp_path, extract):
    tokenizer, digest = load_tokenizer(model)
    draw = random.Random(1)
    vocabulary = tokenizer.get_vocab_size()
    # Sequences that no tokenizer would make, with pieces of characters.
    ids = [[draw.randrange(vocabulary) for _ in range(draw.randint(1, 40))] for _ in range(30)]
    texts = [tokenizer.decode(row, skip_special_tokens=False) for row in ids]
    path = write_texts(tmp_path / "texts.parquet", texts, ids, {"tokenizer": digest})
    extract(model, path, tmp_path / "out.parquet")
    for text, own, (_, scored, spans, got) in zip(
        texts, ids, rows_of(tmp_path / "out.parquet"), strict=True
    ):
        assert scored == own[1:]
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        assert_close(got, reference(own))


def test_ids_of_another_tokenizer_are_refused(model, tmp_path, extract):
    for footer, says in (({"tokenizer": "ab" * 32}, "abababababab"), ({}, "not recorded")):
        path = write_texts(tmp_path / "texts.parquet", ["ab"], [[66, 67]], footer)
        with pytest.raises(UserError, match=f"another tokenizer .*{says}"):
            extract(model, path, tmp_path / "out.parquet")
        assert not (tmp_path / "out.parquet").exists()


def test_a_text_that_is_not_its_ids_is_refused(model, tmp_path, extract):
    _, digest = load_tokenizer(model)
    path = write_texts(tmp_path / "t.parquet", ["zz"], [[66, 67]], {"tokenizer": digest})
    with pytest.raises(UserError, match="t0 .row 0.: its text is not what its token_ids decode"):
        extract(model, path, tmp_path / "out.parquet")


def test_bos_where_the_tokenizer_adds_it(model, reference, tmp_path, extract):
    folder = tmp_path / "with-bos"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).symlink_to(model / name)
    tokenizer, _ = load_tokenizer(model)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    path = write_texts(tmp_path / "texts.parquet", ["the state"])
    extract(folder, path, tmp_path / "out.parquet")
    [(_, ids, spans, got)] = rows_of(tmp_path / "out.parquet")
    plain, _ = load_tokenizer(model)
    assert ids == plain.encode("the state").ids  # the first real token is scored
    assert spans[0][0] == 0
    assert_close(got, reference([0, *ids]))


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(model, tmp_path, extract, monkeypatch):
    path = write_texts(tmp_path / "texts.parquet", some_texts(1500, longest=20))
    small = {"cpu": Budget(batch=512, early=128, part=1024)}
    monkeypatch.setattr(tokens, "BUDGETS", small)
    extract(model, path, tmp_path / "whole" / "out.parquet")
    out = tmp_path / "killed" / "out.parquet"

    def finished():
        return list(out.parent.glob(".out.parquet.unfinished-*/*.npy"))

    for parts in (1, 5, 11):
        process = multiprocessing.get_context("fork").Process(
            target=extract, args=(model, path, out)
        )
        process.start()
        while len(finished()) < parts:
            assert process.is_alive(), "it ended before it could be killed"
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert not out.exists()
    saved = []
    save = Parts.save
    monkeypatch.setattr(Parts, "save", lambda self, k, x: (saved.append(k), save(self, k, x)))
    kept = len(finished())
    extract(model, path, out)
    assert kept >= 11 and saved[0] == kept  # it went on behind what was there
    assert out.read_bytes() == (tmp_path / "whole" / "out.parquet").read_bytes()
    assert not list(out.parent.glob(".*"))  # the parts went


def test_a_second_process_is_kept_out(tmp_path):
    out = tmp_path / "out.parquet"
    with resumable(out, "0123456789abcdef"):
        second = resumable(out, "0123456789abcdef")
        with pytest.raises(UserError, match="another process is already making"):
            second.__enter__()
        # One with other settings does not remove the parts of a living one.
        with resumable(out, "fedcba9876543210"):
            assert (tmp_path / ".out.parquet.unfinished-0123456789abcdef").exists()
    assert not list(tmp_path.glob(".*"))


def test_shards_merge_to_the_same_rows(model, tmp_path, extract):
    texts = write_texts(tmp_path / "texts.parquet", some_texts(80))
    extract(model, texts, tmp_path / "one.parquet")
    shards = [tmp_path / f"{i}-of-3.parquet" for i in (1, 2, 3)]
    for i, path in enumerate(shards, 1):
        extract(model, texts, path, "--shard", str(i), "--of", "3")
    sizes = [sum(len(row[1]) for row in rows_of(path)) for path in shards]
    assert max(sizes) - min(sizes) < 0.1 * max(sizes)  # equal token counts
    merged = tmp_path / "merged.parquet"
    extract(model, texts, merged, "--parts", *map(str, shards))
    for one, other in zip(rows_of(tmp_path / "one.parquet"), rows_of(merged), strict=True):
        assert one[:3] == other[:3]
        np.testing.assert_allclose(one[3][:4], other[3][:4], atol=5e-5)
    # A merge of one shard changes nothing but its footer.
    alone = tmp_path / "alone.parquet"
    extract(model, texts, alone, "--parts", str(tmp_path / "one.parquet"))
    assert TOKENS.read(alone).equals(TOKENS.read(tmp_path / "one.parquet"))


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda m: (m / "tokenizer.json").unlink(), "has no tokenizer.json"),
        (lambda m: (m / "model.safetensors").unlink(), "weights must be safetensors"),
        (lambda m: (m / "model.safetensors").write_bytes(b"x" * 99), "is damaged"),
        (lambda m: (m / "config.json").unlink(), "has no config.json"),
        (lambda m: edit(m, num_hidden_layers=3), "the weights lack [0-9]+ tensors"),
        (lambda m: edit(m, architectures=["BertForMaskedLM"]), "not a causal language model"),
        (lambda m: edit(m, model_type="no-such"), "cannot read it"),
    ],
)
def test_broken_models_end_with_one_clear_line(model, tmp_path, break_it, says):
    copy = tmp_path / "m"
    copy.mkdir()
    for file in model.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    break_it(copy)
    with pytest.raises(UserError, match=says):
        load_tokenizer(copy)
        load(copy, "auto", torch.device("cpu"), print)


def edit(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_no_texts(model, tmp_path, extract):
    empty = TEXTS.required.empty_table()
    TEXTS.write(tmp_path / "texts.parquet", empty, {})
    with pytest.raises(UserError, match="holds no texts"):
        extract(model, tmp_path / "texts.parquet", tmp_path / "o.parquet")


def test_a_prefix_is_cut_to_whole_shots(model, reference, tmp_path, extract):
    tokenizer, _ = load_tokenizer(model)
    shots = ["the union.\n", "so it goes,\n", "state of the\n"]
    two = len(tokenizer.encode("".join(shots[1:])).ids)
    texts = ["our union is strong", "x" * (CONTEXT + 1 - two), "x" * (CONTEXT - 10), "goes"]
    own = [tokenizer.encode(text).ids for text in texts]
    column = pa.array([shots] * 3 + [shots[:1]], pa.list_(pa.string()))
    path = write_texts(tmp_path / "texts.parquet", texts, prefix=column)
    extract(model, path, tmp_path / "out.parquet")
    kept = []
    for ids, own_shots, (_, scored, spans, got) in zip(
        own, column.to_pylist(), rows_of(tmp_path / "out.parquet"), strict=True
    ):
        # By hand: the most shots, counted from the last, that leave room for the text.
        fitting = [
            prefix
            for k in range(len(own_shots))
            if len(prefix := tokenizer.encode("".join(own_shots[k:])).ids) + len(ids) - 1 <= CONTEXT
        ]
        kept.append(len(fitting))
        assert scored == ids and spans[0][0] == 0  # the first token is scored too
        assert_close(got, reference(fitting[0] + ids)[:, -len(ids) :])
    assert len(set(kept)) == 3
    shots_of_texts = provenance(tmp_path / "out.parquet")["shots"]
    assert shots_of_texts == {str(n): kept.count(n) for n in sorted(set(kept))}
    with pytest.raises(UserError, match="row 0: its 49 tokens leave no room for one shot"):
        long = write_texts(tmp_path / "long.parquet", [" x" * 60], prefix=column[:1])
        extract(model, long, tmp_path / "long-out.parquet")


def test_perturbed_copies_are_variants(model, tmp_path, extract):
    path = write_texts(tmp_path / "texts.parquet", some_texts(6))
    plain, noisy = tmp_path / "plain.parquet", tmp_path / "noisy.parquet"
    extract(model, path, plain)
    noise = {"perturb": {"copies": 3, "sigma": 0.01}, "seed": 1}
    extract(model, path, noisy, settings=noise)
    keys = TOKENS.read(noisy, ["text_id", "variant"]).to_pylist()
    assert [(key["text_id"], key["variant"]) for key in keys] == [
        (f"t{row}", copy) for row in range(8) for copy in (1, 2, 3)
    ]
    values, base = rows_of(noisy), rows_of(plain)
    moved = [np.abs(values[3 * 7 + k][3][0] - base[7][3][0]).mean() for k in range(3)]
    assert all(1e-4 < x < 1 for x in moved) and len(set(moved)) == 3
    extract(model, path, tmp_path / "again.parquet", settings=noise)
    assert (tmp_path / "again.parquet").read_bytes() == noisy.read_bytes()


def test_variants_of_a_text_are_rows_of_their_own(model, reference, tmp_path, extract):
    tokenizer, _ = load_tokenizer(model)
    variants = pa.array([0, 1, 0], pa.int32())
    texts = ["the state", "the union", "so it goes"]
    path = write_texts(tmp_path / "t.parquet", texts, text_id=["a", "a", "b"], variant=variants)
    extract(model, path, tmp_path / "out.parquet")
    assert TOKENS.read(tmp_path / "out.parquet")["variant"].to_pylist() == [0, 1, 0]
    for text, (_, _, _, got) in zip(texts, rows_of(tmp_path / "out.parquet"), strict=True):
        assert_close(got, reference(tokenizer.encode(text).ids))


def test_values_that_are_not_finite_are_read_again_in_the_next_dtype(model, tmp_path, extract):
    # An MLP whose output is 1e5: beyond fp16's 65,504, nothing for bf16.
    network = GPTNeoXForCausalLM.from_pretrained(model)
    network.gpt_neox.layers[0].mlp.dense_4h_to_h.bias.data[0] = 60_000
    network.gpt_neox.layers[1].mlp.dense_4h_to_h.bias.data[0] = 60_000
    network.save_pretrained(tmp_path / "big")
    (tmp_path / "big" / "tokenizer.json").symlink_to(model / "tokenizer.json")
    path = write_texts(tmp_path / "texts.parquet", some_texts(4))
    log = extract(tmp_path / "big", path, tmp_path / "o.parquet", settings={"dtype": "float16"})
    footer = provenance(tmp_path / "o.parquet")
    assert (footer["dtype"], footer["not_finite_in"]) == ("bfloat16", "float16")
    assert "float16 gives values that are not finite: again in bfloat16" in log
    assert all(np.isfinite(row[3]).all() for row in rows_of(tmp_path / "o.parquet"))
    network.gpt_neox.layers[0].mlp.dense_4h_to_h.bias.data[0] = torch.nan
    network.save_pretrained(tmp_path / "big")
    with pytest.raises(UserError, match="not finite in float32: its weights are damaged"):
        extract(tmp_path / "big", path, tmp_path / "o.parquet", settings={"dtype": "bfloat16"})
