"""Training the lab's models: schedule, determinism, checkpoints, and runs that are killed."""

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from filelock import FileLock
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from scripts.contracts.orders import ORDER
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.lab import network, train
from scripts.lab.batches import stream
from scripts.lab.order import draw
from scripts.lab.tokenizer import save
from scripts.lab.tokenizer import train as train_tokenizer
from scripts.seeds import derive

ROOT = Path(__file__).parents[1]
STEPS, BATCH, WINDOW, WINDOWS, VOCABULARY = 120, 3, 8, 450, 270
CHECKPOINTS = [0, 40, 80, 120]
SETTINGS = {
    "seed": 5,
    "training": "small",
    "order": "test",
    "hidden": 16,
    "layers": 1,
    "heads": 2,
    "learning_rate": 0.01,
    "checkpoints": CHECKPOINTS,
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    rng = np.random.default_rng(0)
    save(train_tokenizer(["the quick brown fox"] * 3, VOCABULARY), folder / "tokenizer")
    # Some ids are common, so that there is something to learn about windows not yet seen.
    ids = np.minimum(rng.geometric(0.05, (WINDOWS, WINDOW)), 265).astype(np.int32)
    corpus = pa.table(
        {
            "text_id": [f"w{i}" for i in range(WINDOWS)],
            "text": ["x"] * WINDOWS,
            "label": pa.nulls(WINDOWS, pa.int8()),
            "group": ["g"] * WINDOWS,
            "token_ids": pa.array(list(ids), pa.list_(pa.int32())),
        }
    )
    TEXTS.write(folder / "corpus.parquet", corpus, {})
    order = draw(np.ones(WINDOWS, bool), [1, 2], [340, 10], BATCH, rng)
    ORDER.write(folder / "order.parquet", order, {})
    return folder


def command(inputs: Path, out: Path, **changes) -> list[str]:
    settings = {**SETTINGS, **changes}
    models = [str(out / f"small-step{step}") for step in settings["checkpoints"]]
    paths = {"corpus": "corpus.parquet", "order": "order.parquet", "tokenizer": "tokenizer"}
    options = [part for name, file in paths.items() for part in (f"--{name}", str(inputs / file))]
    return ["train", *options, "--models", *models, "--settings", json.dumps(settings)]


def run(inputs: Path, out: Path, monkeypatch, **changes) -> dict[str, bytes]:
    monkeypatch.setattr(sys, "argv", command(inputs, out, **changes))
    train.main()
    return content(out)


def content(out: Path) -> dict[str, bytes]:
    files = (path for path in sorted(out.rglob("*")) if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def reference(inputs, tmp_path_factory):
    """All files of an undisturbed run."""
    out = tmp_path_factory.mktemp("reference")
    with pytest.MonkeyPatch.context() as monkeypatch:
        return out, run(inputs, out, monkeypatch)


def test_batches_are_the_rows_of_the_order(inputs):
    ids = TEXTS.read(inputs / "corpus.parquet", ["token_ids"])["token_ids"].to_pylist()
    expected = np.zeros((STEPS, BATCH, WINDOW), int)
    for row in ORDER.read(inputs / "order.parquet").to_pylist():
        if row["exposures"]:
            expected[row["step"], row["slot"]] = ids[row["row"]]
    batches = stream(inputs / "corpus.parquet", inputs / "order.parquet")
    np.testing.assert_array_equal(batches, expected)


def test_learning_rate_by_hand():
    rates = [network.rate(step, 600) for step in range(600)]
    assert rates[0] == pytest.approx(1 / 30)  # warm-up: 5 % of 600 steps
    assert rates[14] == pytest.approx(0.5)
    assert rates[29] == rates[30] == 1
    assert rates[599] == pytest.approx(0.1)
    # 1/4 of the 569 steps behind the peak: 0.1 + 0.9 (1 + cos(pi / 4)) / 2, at step 172.25
    quarter = 0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2
    assert rates[172] > quarter > rates[173]
    assert all(a > b for a, b in zip(rates[30:], rates[31:], strict=False))


def test_one_step_equals_adamw_by_hand():
    """AdamW written out (Loshchilov and Hutter 2019, algorithm 2) with the gradient clipped."""
    model = network.build(16, 1, 2, 50, 8, seed=3)
    adam = network.optimiser(model)
    batch = np.random.default_rng(1).integers(0, 50, (4, 8))
    before = {name: p.detach().clone().double() for name, p in model.named_parameters()}
    ids = torch.from_numpy(batch)
    logits = model(ids).logits[:, :-1].reshape(-1, 50)
    loss = torch.nn.functional.cross_entropy(logits, ids[:, 1:].reshape(-1))
    gradients = dict(zip(before, torch.autograd.grad(loss, model.parameters()), strict=True))
    norm = math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients.values()))
    assert norm > 1  # so that clipping is seen
    assert network.advance(model, adam, batch, 0.01) == pytest.approx(float(loss.detach()))
    for name, parameter in model.named_parameters():
        g = gradients[name].double() / (norm + 1e-6)
        decay = 1 - 0.01 * 0.1 if before[name].ndim > 1 else 1.0
        # First step: both moments, corrected for their bias, are g and g².
        expected = before[name] * decay - 0.01 * g / (g.abs() + 1e-8)
        # Where g is near eps, fp32 rounding of g decides the direction.
        sure = g.abs() > 1e-6
        actual = parameter.detach().double()
        torch.testing.assert_close(actual[sure], expected[sure], rtol=1e-3, atol=1e-6)


def test_architecture_is_pythias():
    model = network.build(64, 2, 2, 2048, 64, seed=1)
    # Both embeddings; a layer's matrices, its biases (9 h) and its two norms (4 h); the last norm.
    by_hand = 2 * 2048 * 64 + 2 * (12 * 64**2 + 13 * 64) + 2 * 64
    assert sum(p.numel() for p in model.parameters()) == by_hand == 362_240
    config = model.config
    assert config.use_parallel_residual
    assert not config.tie_word_embeddings
    assert config.rope_parameters["partial_rotary_factor"] == 0.25
    assert model.gpt_neox.layers[0].attention.config._attn_implementation == "sdpa"
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert not any(m.p for m in model.modules() if isinstance(m, torch.nn.Dropout))


def test_checkpoints_are_complete_and_load(inputs, reference):
    out, files = reference
    assert {path.split("/")[0] for path in files} == {f"small-step{step}" for step in CHECKPOINTS}
    batches = stream(inputs / "corpus.parquet", inputs / "order.parquet")
    ids = torch.from_numpy(batches[-40:].reshape(-1, WINDOW).astype(np.int64))
    losses = []
    for step in CHECKPOINTS:
        folder = out / f"small-step{step}"
        model = AutoModelForCausalLM.from_pretrained(folder)
        with torch.inference_mode():
            losses.append(float(model(ids, labels=ids).loss))
        assert AutoTokenizer.from_pretrained(folder)("the fox").input_ids
        tokenizer = (inputs / "tokenizer/tokenizer.json").read_bytes()
        assert (folder / "tokenizer.json").read_bytes() == tokenizer
        record = json.loads((folder / "training.json").read_text())
        weights = (folder / "model.safetensors").read_bytes()
        assert record["weights_sha256"] == hashlib.sha256(weights).hexdigest()
        order = (inputs / "order.parquet").read_bytes()
        assert record["sha256"]["order"] == hashlib.sha256(order).hexdigest()
        assert record["step"] == step
        assert len({path.stat().st_mode for path in folder.iterdir()}) == 1  # all as readable
        assert record["threads"] == 1
        assert record["settings"] == SETTINGS
        assert record["torch"] == torch.__version__
        tensors = load_file(folder / "model.safetensors")
        assert record["parameters"] == sum(t.numel() for t in tensors.values())
    assert losses[0] == pytest.approx(math.log(VOCABULARY), abs=0.2)  # untrained: near uniform
    assert losses == sorted(losses, reverse=True)


def test_step_0_holds_the_initial_weights(reference):
    out, _ = reference
    initial = network.build(16, 1, 2, VOCABULARY, WINDOW, derive(5, "training", "small"))
    kept = load_file(out / "small-step0/model.safetensors")
    assert kept.keys() == initial.state_dict().keys()
    for name, tensor in initial.state_dict().items():
        assert torch.equal(kept[name], tensor)


def test_same_bytes_again_and_other_seed_others(inputs, reference, tmp_path, monkeypatch):
    assert run(inputs, tmp_path / "again", monkeypatch) == reference[1]
    other = run(inputs, tmp_path / "other", monkeypatch, seed=6)
    for step in CHECKPOINTS:
        name = f"small-step{step}/model.safetensors"
        assert other[name] != reference[1][name]


def test_a_twin_starts_from_the_weights_of_its_target(inputs, reference, tmp_path, monkeypatch):
    twin = run(
        inputs, tmp_path / "twin", monkeypatch, training="twin", initial="small", checkpoints=[0]
    )
    alone = run(inputs, tmp_path / "alone", monkeypatch, training="alone", checkpoints=[0])
    first = reference[1]["small-step0/model.safetensors"]
    assert twin["small-step0/model.safetensors"] == first
    assert alone["small-step0/model.safetensors"] != first


def test_a_run_that_only_makes_early_checkpoints_has_the_same_weights(
    inputs, reference, tmp_path, monkeypatch
):
    files = run(inputs, tmp_path, monkeypatch, checkpoints=[40])
    assert files.keys() == {name for name in reference[1] if name.startswith("small-step40/")}
    weights = "small-step40/model.safetensors"
    assert files[weights] == reference[1][weights]


# Imports once, then forks one run after the other. Each is killed at a random moment after it has
# kept a further state, so that there is progress on a machine of any speed; the last one ends.
KILLER = """
import os, pathlib, random, signal, sys, time
from scripts.cli import run
from scripts.lab import network, train

train.EVERY = 20
advance = network.advance
network.advance = lambda *a: (time.sleep(0.005), advance(*a))[1]
folder = pathlib.Path(sys.argv[sys.argv.index("--models") + 1]).parent
draw = random.Random(11)

def kept():
    return [path.stat().st_mtime_ns for path in folder.glob(".small.*/state.safetensors")]

for kills in range(30):
    before = kept()
    child = os.fork()
    if not child:
        run(train.main)
        os._exit(0)
    end = None
    while end is None or time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            print(kills)
            sys.exit(os.waitstatus_to_exitcode(status))
        if end is None and kept() != before:
            end = time.monotonic() + draw.uniform(0, 0.3)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
sys.exit("no run got to its end")
"""


def test_killed_at_random_moments_ends_with_the_same_bytes(inputs, reference, tmp_path):
    out = tmp_path / "out"
    result = subprocess.run(
        [sys.executable, "-c", KILLER, *command(inputs, out)[1:]],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 1
    assert content(out) == reference[1]


@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        ("network", "advance", 61),  # 50 steps were kept, and the first checkpoint before them
        ("train", "write_model", 3),  # while the third checkpoint is written
        ("state", "save", 3),  # after the last one
        ("shutil", "copytree", 2),  # between two outputs
        ("shutil", "rmtree", 1),  # all outputs are there, the folder is not gone yet
    ],
)
def test_stopped_at_each_kind_of_moment_goes_on_from_what_was_kept(
    inputs, reference, tmp_path, monkeypatch, owner, name, calls
):
    module = train if owner == "train" else getattr(train, owner)
    original = getattr(module, name)
    count = 0

    def stop(*args, **kwargs):
        nonlocal count
        count += 1
        if count == calls:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, stop)
        with pytest.raises(KeyboardInterrupt):
            run(inputs, tmp_path, patch)
    for model in tmp_path.glob("small-*"):
        train.shutil.rmtree(model)  # what Snakemake does before it starts the job again
    steps = []
    advance = network.advance
    monkeypatch.setattr(network, "advance", lambda *a: (steps.append(1), advance(*a))[1])
    assert run(inputs, tmp_path, monkeypatch) == reference[1]
    kept = {"advance": 50, "write_model": 50, "save": 100, "copytree": STEPS, "rmtree": 0}[name]
    assert len(steps) == STEPS - kept


def test_a_state_of_other_settings_or_inputs_is_never_used_and_goes(
    inputs, reference, tmp_path, monkeypatch
):
    def stop(**_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train, "bar", stop)
        with pytest.raises(KeyboardInterrupt):
            run(inputs, tmp_path, patch, learning_rate=0.02)
    (left,) = tmp_path.glob(".small.*")
    assert run(inputs, tmp_path, monkeypatch) == reference[1]
    assert not left.exists()


def test_a_second_process_is_kept_out(inputs, tmp_path, monkeypatch):
    def beside(*args, **kwargs):
        with pytest.raises(UserError, match="another process is already making .*small"):
            run(inputs, tmp_path, monkeypatch)
        raise KeyboardInterrupt

    monkeypatch.setattr(network, "advance", beside)
    with pytest.raises(KeyboardInterrupt):
        run(inputs, tmp_path, monkeypatch)
    (left,) = tmp_path.glob(".small.*")
    with FileLock(left / "lock", blocking=False):  # released with the first
        pass


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"checkpoints": [0, 121]}, "checkpoint 121 lies behind the last step .* 120; lower it"),
        ({"learning_rate": 1e30}, "the loss is nan at step .*; lower learning_rate"),
    ],
)
def test_mistakes(inputs, tmp_path, monkeypatch, changes, message):
    with pytest.raises(UserError, match=message):
        run(inputs, tmp_path, monkeypatch, **changes)
