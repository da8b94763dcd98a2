"""Snakemake from hub ids to the rows of a checkpoint: first, again, offline, and with one row more."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.planning.workflow import load
from tests import checkpoint_files as made
from tests import workflow
from tests.hub import Hub
from tests.workflow import checkout, last_line, snakemake

FOLDER = "results/tiny"
TEXT = f"{FOLDER}/texts/toy/original.parquet"
COUNT = 2000


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with Hub(tmp_path_factory.mktemp("hub"), redirect=True, uses=40) as hub:
        made.tokenizer(hub)
        yield hub


@pytest.fixture(scope="module")
def found():
    return made.rows(COUNT)


@pytest.fixture(scope="module")
def environment(hub, tmp_path_factory):
    with workflow.asking(hub.endpoint, tmp_path_factory.mktemp("cache")) as patch:
        yield patch


@pytest.fixture(scope="module")
def built(tmp_path_factory, hub, found, environment):
    tree = checkout(tmp_path_factory.mktemp("built") / "pretrace")
    families = {"toy": made.preshuffled(hub, found)}
    rng = np.random.default_rng(7)
    texts = [rng.integers(0, made.VOCABULARY, n).astype(np.uint16) for n in range(5, 60)] * 20
    documents = {**made.corpus(hub, texts), "samples": 1500}
    families["toy"]["documents"] = documents
    with (tree / "config/families.yaml").open("a") as file:
        file.write(yaml.safe_dump(families))
    entry = {"source": "checkpoint", "family": "toy", "step": 120, "members": 30, "nonmembers": 30}
    datasets = {
        "toy": {**entry, "aside": 20},
        "toy-documents": {
            **{**entry, "policy": "exposure", "tokens": 16, "step": 90},
            **{"members": 12, "nonmembers": 12},
        },
    }
    path = tree / "config/datasets.yaml"
    path.write_text(path.read_text() + yaml.safe_dump({"toy": datasets.pop("toy")}))
    (tree / "config/studies/mine.yaml").write_text(yaml.safe_dump({"datasets": datasets}))
    snakemake(tree, TEXT)
    return tree


@pytest.fixture
def copy(built, tmp_path):
    return Path(shutil.copytree(built, tmp_path / "copy", symlinks=True))


def test_the_rows_are_those_of_the_order(built, hub, found):
    for path in (TEXT, f"{FOLDER}/aside/toy.parquet"):
        for row in TEXTS.read(built / path).to_pylist():
            position = int(row["text_id"].removeprefix("row"))
            assert row["token_ids"] == found[position, :-1].tolist()
            assert row["label"] == (position // made.BATCH < 120)
    commit = hub.commit("datasets", "toy/preshuffled")
    assert provenance(built / TEXT)["files"] == [f"toy/preshuffled@{commit}"]
    pins = (built / "config/hub.lock.yaml").read_text()
    assert f"datasets/toy/preshuffled@main: {commit}" in pins
    assert "toy/tokenizer@main" in pins


def test_again_and_for_show_nothing_reruns(copy, hub):
    asked = len(hub.requests)
    path = copy / "config/datasets.yaml"
    path.write_text(path.read_text().replace("  family: toy\n", "  family: toy\n  title: A toy\n"))
    assert "Nothing to be done" in snakemake(copy, TEXT).stdout
    assert len(hub.requests) == asked


def test_one_row_more_fetches_that_row_alone(copy, hub):
    path = copy / "config/datasets.yaml"
    path.write_text(path.read_text().replace("  members: 30\n", "  members: 31\n"))
    before = len(hub.requests)
    snakemake(copy, TEXT)
    assert TEXTS.read(copy / TEXT).num_rows == 61
    sent = [r.sent for r in hub.requests[before:] if r.path.endswith(".bin") and r.method == "GET"]
    assert sum(sent) == 2 * made.ROW


def test_offline_with_the_rows_kept_gives_the_same_bytes(built, copy, hub, environment):
    asked = len(hub.requests)
    shutil.rmtree(copy / "results")
    with environment.context() as patch:
        patch.setitem(workflow.ENVIRONMENT, "HF_HUB_OFFLINE", "1")
        patch.setitem(workflow.ENVIRONMENT, "HF_ENDPOINT", "http://127.0.0.1:9")
        snakemake(copy, TEXT)
        assert (copy / TEXT).read_bytes() == (built / TEXT).read_bytes()
        path = copy / "config/datasets.yaml"
        path.write_text(path.read_text().replace("  nonmembers: 30\n", "  nonmembers: 31\n"))
        done = snakemake(copy, TEXT, ok=False)
    assert done.returncode != 0
    assert "HF_HUB_OFFLINE is set" in last_line(done)
    assert len(hub.requests) == asked


def test_documents_and_the_audit_of_overlap(copy):
    texts = f"{FOLDER}/texts/mine.toy-documents/original.parquet"
    audit = f"{FOLDER}/overlap/toy.json"
    snakemake(copy, texts, audit)
    rows = TEXTS.read(copy / texts).to_pylist()
    assert {(row["label"], row["exposures"] > 0) for row in rows} == {(0, False), (1, True)}
    assert all(len(row["token_ids"]) == 16 for row in rows)
    report = json.loads((copy / audit).read_text())
    assert (report["members"], report["nonmembers"]) == (50, 50)
    assert report["matches"] == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  family: toy\n", "  family: tpy\n", r"toy\.family: no 'tpy'; did you mean 'toy'\?"),
        ("  step: 120\n", "  step: 200\n", r"toy\.step: 200 leaves no step"),
        ("  step: 120\n", "  step: 120\n  until: 201\n", r"trusted up to step 200 only"),
        ("  step: 120\n", "  step: 120\n  widow: 5\n", r"unknown key 'widow'; did you mean 'wi"),
        ("  step: 120\n", "  step: 120\n  exposures: 1\n", r"only documents of the policy"),
        ("  step: 120\n", "  step: 120\n  reading: released\n  gap: 2\n", "windows of its own"),
    ],
)
def test_a_mistake_in_an_entry_is_one_line(copy, old, new, message):
    path = copy / "config/datasets.yaml"
    head, tail = path.read_text().rsplit("\ntoy:", 1)
    assert old in tail
    path.write_text(f"{head}\ntoy:{tail.replace(old, new)}")
    with pytest.raises(UserError, match=message) as error:
        load(copy, {})
    assert re.search(r"datasets\.yaml: toy", str(error.value))
