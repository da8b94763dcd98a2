"""The scoring step: what it reads, refuses, fills in and writes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from scripts.attacks import loss
from scripts.batches import BLOCK, Files, read
from scripts.contracts.scores import SCORES, UNSCORED
from scripts.contracts.table import provenance
from scripts.contracts.tags import TAGS
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import TOKENS
from scripts.errors import UserError
from scripts.planning.settings import expand
from scripts.score import score_all

ROOT = Path(__file__).parents[1]

TEXT = ["abc d", "", "e"]
LOGPROB = [[-1.0, -3.0], [], [-5.0]]  # the second text has no scored token
STARTS = [[0, 4], [], [0]]
ENDS = [[3, 5], [], [1]]


@pytest.fixture
def files(tmp_path):
    ids = ["first", "second", "third"]
    table = pa.table(
        {"text_id": ids, "text": TEXT, "label": [1, 0, 1], "group": ids}, schema=TEXTS.required
    )
    TEXTS.write(tmp_path / "texts.parquet", table, {})
    zeros = [[0] * len(row) for row in LOGPROB]
    columns = {field.name: zeros for field in TOKENS.required}
    columns |= {"text_id": ids, "variant": [0, 0, 0]}
    columns |= {"logprob": LOGPROB, "start": STARTS, "end": ENDS}
    TOKENS.write(
        tmp_path / "tokens.parquet", pa.table(columns, schema=TOKENS.required), {"model": "m"}
    )
    words = {"sentence": [[0], [], []], "start": [[0], [], []], "end": [[3], [], []]}
    tags = {field.name: [[], [], []] for field in TAGS.required}
    tags |= {f"word_{name}": rows for name, rows in {**words, "order": [[0], [], []]}.items()}
    tags |= {"text_id": ids, "sentences": [0, 0, 0]}
    TAGS.write(tmp_path / "tags.parquet", pa.table(tags, schema=TAGS.required), {})
    return tmp_path


def run(files, attack, columns, grid, tags=False):
    settings = {
        "model": "m",
        "dataset": "d",
        "attack": attack,
        "columns": columns,
        "views": [],
        "references": [],
        "settings": expand(attack, grid),
        "seed": 1,
    }
    command = [sys.executable, "-m", "scripts.score", "--settings", json.dumps(settings)]
    for name in ("tokens", "texts", "scores"):
        command += [f"--{name}", str(files / f"{name}.parquet")]
    if tags:
        command += ["--tags", str(files / "tags.parquet")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_scores_are_written_in_the_order_of_the_texts(files):
    assert run(files, "min_k", ["logprob"], {"ratio": [0.5, 1.0]}).returncode == 0
    scores = SCORES.read(files / "scores.parquet")
    assert scores["text_id"].to_pylist() == ["first", "second", "third"]
    # Lowest of two, mean of two; the text without a scored token gets its stated value.
    assert scores["min_k(ratio=0.5)"].to_pylist() == [-3.0, UNSCORED, -5.0]
    assert scores["min_k(ratio=1.0)"].to_pylist() == [-2.0, UNSCORED, -5.0]
    footer = provenance(files / "scores.parquet")
    assert footer["unscored"] == {"min_k(ratio=0.5)": 1, "min_k(ratio=1.0)": 1}
    assert footer["fallback"] == {"min_k(ratio=0.5)": 0, "min_k(ratio=1.0)": 0}
    assert footer["tokens"]["model"] == "m"


def test_the_fallback_of_an_attack_is_counted(files):
    result = run(files, "tag_tab", ["logprob", "start", "end"], {"k": [1]}, tags=True)
    assert result.returncode == 0, result.stderr
    # The first text's keyword is its first word; the third has no word and takes its Loss.
    assert SCORES.read(files / "scores.parquet")["tag_tab(k=1)"].to_pylist() == [
        -1.0,
        UNSCORED,
        -5.0,
    ]
    footer = provenance(files / "scores.parquet")
    assert (footer["unscored"], footer["fallback"]) == ({"tag_tab(k=1)": 1}, {"tag_tab(k=1)": 1})


def test_two_runs_write_the_same_bytes(files):
    written = []
    for _ in range(2):
        run(files, "zlib", ["logprob", "text"], None)
        written.append((files / "scores.parquet").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"ratoi": [0.2]}, "its parameters: ratio"),
        ({"ratio": [2]}, "min_k(ratio=2): ratio=2: a ratio lies above 0"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(files, grid, message):
    result = run(files, "min_k", ["logprob"], grid)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert not (files / "scores.parquet").exists()


def batch_of(files, columns, texts="texts.parquet"):
    """The one batch that so few texts make, and the places of its texts."""
    ids, batches = read(Files(files / "tokens.parquet", files / texts), columns, 1)
    assert ids == ["first", "second", "third"]
    ((places, batch),) = batches
    return places, batch


def test_only_what_the_entry_declares_is_read(files):
    places, batch = batch_of(files, ["logprob"])
    assert list(batch.columns) == ["logprob"]
    assert (batch.texts, batch.tags) == ((), {})
    assert batch.text_ids == ["first", "third"]
    assert places.tolist() == [0, 2]
    assert batch["logprob"].values.dtype == np.float64
    _, batch = batch_of(files, ["text", "token_id"])
    assert batch.texts == ["abc d", "e"]
    assert batch["token_id"].values.dtype == np.int64


def test_an_unknown_column_is_one_clear_line(files):
    result = run(files, "loss", ["logprbo"], None)
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "no column 'logprbo'; valid: text, token_id, start" in result.stderr


def test_a_statistic_that_an_endpoint_did_not_tell_is_one_clear_line(files):
    result = run(files, "gap_k", ["logprob", "top_logprob", "std_logprob"], None)
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "tokens.parquet has no std_logprob, top_logprob: what answered" in result.stderr


def test_files_of_other_texts_are_refused(files):
    other = TEXTS.read(files / "texts.parquet").take([1, 0, 2])
    TEXTS.write(files / "other.parquet", other, {})
    with pytest.raises(ValueError, match="does not hold the dataset.s texts"):
        read(Files(files / "tokens.parquet", files / "other.parquet"), ["logprob"], 1)


class Module:
    """An attack whose scores are given."""

    def __init__(self, scores):
        self.score = lambda batch: np.array(scores)


def test_a_score_that_is_no_number_names_attack_and_text(files):
    batches = [batch_of(files, ["logprob"])]
    with pytest.raises(UserError, match="toy: the score of text 'third' is nan"):
        score_all(Module([1.0, np.nan]), batches, 3, {"toy": {}})
    with pytest.raises(ValueError, match="toy: float64 .3,., not float64 .2,."):
        score_all(Module([1.0, 2.0, 3.0]), batches, 3, {"toy": {}})


def test_a_user_error_names_the_setting(files):
    with pytest.raises(UserError, match=r"toy\(k=1\): .*its parameters: none"):
        score_all(Module([1.0]), [batch_of(files, ["logprob"])], 3, {"toy(k=1)": {"k": 1}})


def test_many_texts_are_scored_in_blocks(tmp_path):
    # Every third text has no scored token; text i has tokens of log-prob -i.
    n = 2 * BLOCK + 1
    ids, lengths = [f"text {i}" for i in range(n)], [i % 3 for i in range(n)]
    columns = {name: ids for name in TEXTS.required.names} | {"label": [0] * n}
    TEXTS.write(tmp_path / "texts.parquet", pa.table(columns, schema=TEXTS.required), {})
    rows = [[float(-i)] * length for i, length in enumerate(lengths)]
    zeros = [[0] * length for length in lengths]
    columns = {field.name: zeros for field in TOKENS.required}
    columns |= {"text_id": ids, "variant": [0] * n, "logprob": rows}
    TOKENS.write(tmp_path / "tokens.parquet", pa.table(columns, schema=TOKENS.required), {})
    files = Files(tmp_path / "tokens.parquet", tmp_path / "texts.parquet")
    found, batches = read(files, ["logprob"], 1)
    scores, unscored, _ = score_all(loss, batches, n, {"loss": {}})
    assert found == ids
    assert scores["loss"].tolist() == [-i if i % 3 else UNSCORED for i in range(n)]
    assert unscored == len(range(0, n, 3))


def test_a_dataset_without_any_scored_token_is_all_unscored(files):
    empty = TOKENS.read(files / "tokens.parquet").take([1])
    TOKENS.write(files / "tokens.parquet", empty, {})
    TEXTS.write(files / "texts.parquet", TEXTS.read(files / "texts.parquet").take([1]), {})
    assert run(files, "min_k", ["logprob"], {"ratio": [0.2]}).returncode == 0
    assert SCORES.read(files / "scores.parquet")["min_k(ratio=0.2)"].to_pylist() == [UNSCORED]


def test_scoring_imports_nothing_heavy():
    # Each score is a job of its own: its imports are most of its time.
    code = "import sys, scripts.score; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "pandas", "scipy", "sklearn", "spacy", "matplotlib"} & set(loaded)


def test_expand_names_every_setting_in_the_order_written():
    assert expand("loss", None) == {"loss": {}}
    assert expand("loss", {}) == {"loss": {}}
    assert list(expand("gap_k", {"window": [1, 6], "ratio": [0.1, 0.2]})) == [
        "gap_k(window=1,ratio=0.1)",
        "gap_k(window=1,ratio=0.2)",
        "gap_k(window=6,ratio=0.1)",
        "gap_k(window=6,ratio=0.2)",
    ]
    assert expand("tag_tab", [{"k": 4}, {"k": [4, 10], "tokens": "first"}]) == {
        "tag_tab(k=4)": {"k": 4},
        "tag_tab(k=4,tokens=first)": {"k": 4, "tokens": "first"},
        "tag_tab(k=10,tokens=first)": {"k": 10, "tokens": "first"},
    }


@pytest.mark.parametrize("grid", [[], {"ratio": []}, {"ratio": [0.1, 0.1]}])
def test_expand_refuses_grids_that_are_empty_or_repeat(grid):
    with pytest.raises(ValueError, match=r"empty|twice"):
        expand("min_k", grid)
