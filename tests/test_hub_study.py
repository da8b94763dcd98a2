"""A whole study from hub ids: two revisions of a model, a benchmark, rows around a checkpoint.

Built over HTTP, then from the cache alone, then with one row more.
"""

import csv
import shutil
from pathlib import Path

import pytest
import yaml

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from tests import checkpoint_files as split_files
from tests import dataset_files, workflow
from tests.hub import Hub
from tests.hub_models import write_model
from tests.workflow import checkout, snakemake

STUDY = """
title: Mine
models:
  early: {source: hub, id: ns/tiny, revision: step1}
  final: {source: hub, id: ns/tiny}
datasets:
  benchmark:
    source: hub
    id: iamgroot42/mimir
    files:
      - {path: cache_100_200_1000_512/train/arxiv_ngram_13_0.8.jsonl, label: 1}
      - {path: cache_100_200_1000_512/test/arxiv_ngram_13_0.8.jsonl, label: 0}
    columns: {text: value}
    counts: {members: 20, nonmembers: 20}
    baselines: []
  split:
    source: checkpoint
    family: toy
    step: 120
    members: 30
    nonmembers: 30
    aside: 20
    baselines: [bow_tokens]
    classifiers: [logistic_regression]
blocks:
  - {models: [early, final], datasets: [benchmark], attacks: [loss]}
  - {models: [final], datasets: [split], attacks: [loss]}
tables:
  attacks: {kind: attacks, title: Attacks}
figures: {}
"""
FOLDER = "results/tiny"
TABLE = f"{FOLDER}/studies/mine/attacks.csv"
OWN = ("config/families.yaml", "config/studies/mine.yaml", "config/hub.lock.yaml")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with Hub(tmp_path_factory.mktemp("hub"), redirect=True, uses=40) as hub:
        tokenizer = split_files.tokenizer(hub)
        for seed, revision in enumerate(["main", "step1"]):
            folder = hub.revision("models", "ns/tiny", revision)
            write_model(folder, seed)
            shutil.copy(tokenizer, folder)  # that of the split's rows
        dataset_files.mimir(hub)
        yield hub


@pytest.fixture(scope="module")
def environment(hub, tmp_path_factory):
    with workflow.asking(hub.endpoint, tmp_path_factory.mktemp("cache")) as patch:
        yield patch


def build(tree: Path):
    return snakemake(tree, "mine", permutations=19, bootstrap=100)


@pytest.fixture(scope="module")
def built(tmp_path_factory, hub, environment):
    tree = checkout(tmp_path_factory.mktemp("built") / "pretrace")
    with (tree / "config/families.yaml").open("a") as file:
        yaml.safe_dump({"toy": split_files.preshuffled(hub, split_files.rows(2000))}, file)
    (tree / "config/studies/mine.yaml").write_text(STUDY)
    build(tree)
    return tree


def test_the_table_has_every_cell_and_each_pass_its_commit(built, hub):
    with (built / TABLE).open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["model"], row["dataset"]) for row in rows} == {
        ("mine.early", "mine.benchmark"),
        ("mine.final", "mine.benchmark"),
        ("mine.final", "mine.split"),
    }
    passes = built / FOLDER / "tokens"
    for model, revision in (("early", "step1"), ("final", "main")):
        footer = provenance(passes / f"mine.{model}/mine.benchmark/original.parquet")
        assert footer["hub"]["commit"] == hub.commit("models", "ns/tiny", revision)
    texts = TEXTS.read(built / FOLDER / "texts/mine.split/original.parquet")
    tokens = provenance(passes / "mine.final/mine.split/original.parquet")
    assert texts["label"].to_pylist().count(1) == 30 and tokens["dataset"] == "mine.split"


def test_offline_from_the_cache_and_again_nothing_is_asked(built, tmp_path, hub, environment):
    tree = checkout(tmp_path / "offline")
    for name in OWN:
        shutil.copy(built / name, tree / name)
    asked = len(hub.requests)
    with environment.context() as patch:
        patch.setitem(workflow.ENVIRONMENT, "HF_HUB_OFFLINE", "1")
        patch.setitem(workflow.ENVIRONMENT, "HF_ENDPOINT", "http://127.0.0.1:9")
        build(tree)
    assert (tree / TABLE).read_bytes() == (built / TABLE).read_bytes()
    assert "Nothing to be done" in build(built).stdout
    assert len(hub.requests) == asked


def test_one_row_more_fetches_that_row_alone(built, hub):
    path = built / "config/studies/mine.yaml"
    path.write_text(STUDY.replace("members: 30\n    non", "members: 31\n    non"))
    before = len(hub.requests)
    screen = build(built).stdout
    assert TEXTS.read(built / FOLDER / "texts/mine.split/original.parquet").num_rows == 61
    bodies = [request for request in hub.requests[before:] if request.sent]
    assert sum(request.sent for request in bodies) == 2 * split_files.ROW  # two bytes a token
    assert all(request.path.endswith(".bin") for request in bodies)
    assert "fetch_dataset" not in screen and "fetch_model" not in screen
    assert "mine.benchmark/original" not in screen
