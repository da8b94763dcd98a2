"""A study on a server and on the same weights here: one table, one footnote, nothing asked twice."""

import csv
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from scripts.contracts.tokens import TOKENS
from tests import tiny_model, workflow
from tests.completions import Completions
from tests.workflow import checkout, last_line, snakemake

KEY = "sk-this-must-never-be-seen-0123456789"
STUDY = """
title: Mine
datasets:
  texts: {{path: mine.csv, baselines: []}}
models:
  far: {{source: endpoint, url: "{url}", model: ns/tiny, tokenizer: weights, key_variable: MY_KEY, title: Far}}
  here: {{source: local, path: weights, title: Here}}
blocks:
  - {{models: [far, here], datasets: [texts], attacks: [loss, min_k, gap_k, lowercase]}}
tables:
  attacks: {{kind: attacks, title: Attacks}}
figures: {{}}
"""
TREE = "results/tiny"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    tree = checkout(tmp_path_factory.mktemp("built") / "pretrace")
    weights = tiny_model.build(tree / "weights", hidden=16, layers=1, context=64)
    rows = [f"The state of union {n} is Strong.,{n % 2}" for n in range(20)]
    (tree / "mine.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    with Completions(weights) as server, pytest.MonkeyPatch.context() as patch:
        patch.setitem(workflow.ENVIRONMENT, "MY_KEY", KEY)
        patch.setitem(workflow.ENVIRONMENT, "NO_PROXY", "127.0.0.1")
        (tree / "config/studies/mine.yaml").write_text(STUDY.format(url=server.url))
        done = run(tree, "mine")
        yield tree, server, done.stdout


def run(tree: Path, *options: str, **keywords):
    return snakemake(tree, *options, permutations=19, bootstrap=100, **keywords)


def test_the_table_shows_both_and_says_what_is_not_available(built):
    tree, _, _ = built
    with (tree / TREE / "studies/mine/attacks.csv").open() as file:
        rows = {(row["model"], row["setting"]): float(row["auc"]) for row in csv.DictReader(file)}
    here = {setting for model, setting in rows if model == "mine.here"}
    far = {setting for model, setting in rows if model == "mine.far"}
    assert far == {setting for setting in here if not setting.startswith("gap_k")}
    assert far and all(rows["mine.far", name] == rows["mine.here", name] for name in far)
    note = "Not available on Far: Gap-K%, which needs the distribution over the vocabulary."
    assert note in (tree / TREE / "studies/mine/attacks.md").read_text()
    assert note in (tree / TREE / "studies/mine/report.html").read_text()


def test_the_token_statistics_are_those_of_the_pass(built):
    tree, server, _ = built
    for view in ("original", "lowercase"):
        far, here = (
            TOKENS.read(tree / TREE / f"tokens/mine.{model}/mine.texts/{view}.parquet")
            for model in ("far", "here")
        )
        assert far["token_id"].equals(here["token_id"])
        for one, other in zip(far["logprob"].to_pylist(), here["logprob"].to_pylist(), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)
    assert len(server.prompts) == 40  # each text in each view, once


def test_a_second_run_and_a_server_that_moved_ask_nothing(built):
    tree, server, _ = built
    asked = len(server.prompts)
    study = tree / "config/studies/mine.yaml"
    assert "Nothing to be done" in run(tree, "mine").stdout
    moved = STUDY.format(url="http://elsewhere.invalid/v1").replace(
        "MY_KEY", "MY_KEY, concurrency: 2"
    )
    study.write_text(moved)
    assert "Nothing to be done" in run(tree, "mine").stdout
    study.write_text(STUDY.format(url=server.url))
    assert len(server.prompts) == asked


def test_the_key_is_in_no_file_and_on_no_screen(built):
    tree, server, said = built
    assert set(server.authorizations) == {f"Bearer {KEY}"}
    assert KEY not in said
    for folder, _, names in os.walk(tree):
        for name in names:
            assert KEY.encode() not in Path(folder, name).read_bytes(), Path(folder, name)


def test_scores_that_cannot_be_had_are_refused_in_one_line(built, tmp_path):
    tree = Path(shutil.copytree(built[0], tmp_path / "copy", symlinks=True))
    target = f"{TREE}/scores/mine.far/mine.texts/gap_k.parquet"
    done = run(tree, target, ok=False)
    assert done.returncode
    assert (
        "attack gap_k cannot be had on model mine.far: it needs access 'distribution'"
        in done.stdout
    )
    (tree / "config/studies/mine.yaml").write_text(
        STUDY.format(url="http://127.0.0.1:1/v1").replace("tokenizer: weights", "tokenizer: lost")
    )
    done = run(tree, "mine", ok=False)
    assert "model mine.far: tokenizer: lost is no tokenizer.json" in last_line(done)
