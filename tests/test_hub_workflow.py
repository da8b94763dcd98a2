"""A study on two revisions of a hub model: end to end, again, offline, and what a pin changes."""

import json
import re
import shutil
from pathlib import Path

import pytest

from scripts.contracts.table import provenance
from tests import workflow
from tests.hub import Hub
from tests.hub_models import write_model
from tests.workflow import checkout, last_line, planned, snakemake

STUDY = """
title: Mine
datasets:
  texts: {path: mine.csv, baselines: [bow_text], classifiers: [logistic_regression]}
models:
  early: {source: hub, id: ns/tiny, revision: step1}
  final: {source: hub, id: ns/tiny}
blocks:
  - {models: [early, final], datasets: [texts], attacks: [loss]}
tables:
  attacks: {kind: attacks, title: Attacks}
figures: {}
"""
LOCK = "config/hub.lock.yaml"
TABLE = "results/tiny/studies/mine/attacks.csv"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with Hub(tmp_path_factory.mktemp("hub")) as hub:
        for seed, revision in enumerate(["main", "step1", "step2"]):
            write_model(hub.revision("models", "ns/tiny", revision), seed)
        wrong = hub.revision("models", "ns/tiny", "step0")
        shutil.copytree(hub.revision("models", "ns/tiny"), wrong, dirs_exist_ok=True)
        (wrong / "README.md").write_text("A commit of its own, with the final weights.\n")
        yield hub


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True, scope="module")
def environment(hub, cache):
    with workflow.asking(hub.endpoint, cache) as patch:
        yield patch


def run(tree: Path, *options: str, **keywords):
    return snakemake(tree, *options, permutations=19, bootstrap=100, **keywords)


def outputs(tree: Path) -> set[str]:
    """What a dry run of the study would make, relative to the results tree."""
    text = run(tree, "-n", "mine").stdout
    lines = re.findall(r"^    output: (.*)$", text, re.M)
    return {path.removeprefix("results/tiny/") for line in lines for path in line.split(", ")}


@pytest.fixture(scope="module")
def built(tmp_path_factory, environment):
    tree = checkout(tmp_path_factory.mktemp("built") / "pretrace")
    rows = [f"Text number {n} of mine says something of its own.,{n % 2}" for n in range(40)]
    (tree / "mine.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (tree / "config/studies/mine.yaml").write_text(STUDY)
    run(tree, "mine")
    return tree


@pytest.fixture
def copy(built, tmp_path):
    return Path(shutil.copytree(built, tmp_path / "copy", symlinks=True))


def test_both_revisions_are_read_and_recorded(built, hub):
    table = (built / TABLE).read_text()
    assert "mine.early" in table and "mine.final" in table
    for name, revision in (("early", "step1"), ("final", "main")):
        footer = provenance(built / f"results/tiny/tokens/mine.{name}/mine.texts/original.parquet")
        commit = hub.commit("models", "ns/tiny", revision)
        assert footer["hub"] == {"id": "ns/tiny", "revision": revision, "commit": commit}
    pins = (built / LOCK).read_text()
    assert "ns/tiny@main" in pins and "ns/tiny@step1" in pins
    audit = json.loads((built / "results/tiny/audits/mine.early.json").read_text())
    assert list(audit["compared"]) == ["main"]
    assert not list((built / "results").rglob("*.part"))


def test_a_second_run_plans_nothing_and_asks_nothing(built, hub):
    asked = len(hub.requests)
    assert "Nothing to be done" in run(built, "mine").stdout
    assert len(hub.requests) == asked


def test_another_revision_reruns_nothing_of_the_others(copy):
    path = copy / "config/studies/mine.yaml"
    text = STUDY.replace(
        "  final:", "  later: {source: hub, id: ns/tiny, revision: step2}\n  final:"
    )
    path.write_text(text.replace("[early, final]", "[early, later, final]"))
    steps = {output for output in outputs(copy) if not output.startswith("studies/")}
    assert "models/mine.later/hub.json" in steps
    assert all(output.split("/")[1].startswith("mine.later") for output in steps), steps


def test_a_changed_pin_reruns_its_model_and_nothing_else(copy, hub, tmp_path):
    """The branch is uploaded again, and the user takes the new commit."""
    folder = hub.revision("models", "ns/tiny", "step1")
    weights = (folder / "model.safetensors").read_bytes()
    pins = copy / LOCK
    old = hub.commit("models", "ns/tiny", "step1")
    try:
        write_model(folder, 9)
        assert outputs(copy) == set()  # what the branch holds now is no concern of a pin
        new = hub.commit("models", "ns/tiny", "step1")
        pins.write_text(pins.read_text().replace(old, new))
        steps = {output for output in outputs(copy) if not output.startswith("studies/")}
        assert "tokens/mine.early/mine.texts/original.parquet" in steps
        assert all(output.split("/")[1] == "mine.early" for output in steps), steps
        target = "results/tiny/models/mine.early/hub.json"
        run(copy, target)
        assert json.loads((copy / target).read_text())["commit"] == new
        assert "Nothing to be done" in run(copy, target).stdout
        pins.unlink()
        assert "Nothing to be done" in run(copy, target).stdout
    finally:
        (folder / "model.safetensors").write_bytes(weights)


def test_offline_from_the_cache_gives_the_same_table(built, tmp_path, environment, hub):
    tree = checkout(tmp_path / "offline")
    for name in ("mine.csv", "config/studies/mine.yaml", LOCK):
        shutil.copy(built / name, tree / name)
    asked = len(hub.requests)
    with environment.context() as patch:
        patch.setitem(workflow.ENVIRONMENT, "HF_HUB_OFFLINE", "1")
        patch.setitem(workflow.ENVIRONMENT, "HF_ENDPOINT", "http://127.0.0.1:9")
        run(tree, "mine")
    assert len(hub.requests) == asked
    assert (tree / TABLE).read_bytes() == (built / TABLE).read_bytes()


def test_a_branch_with_other_weights_stops_before_the_download(copy, hub):
    path = copy / "config/studies/mine.yaml"
    path.write_text(STUDY.replace("revision: step1", "revision: step0"))
    before = hub.sent("*/model.safetensors")
    done = run(copy, "results/tiny/models/mine.early/hub.json", "--forceall", ok=False)
    assert done.returncode != 0
    assert "its branches step0 and main hold the same weights" in last_line(done)
    assert hub.sent("*/model.safetensors") == before


def test_a_plan_downloads_no_weights(copy, hub, tmp_path, environment):
    with environment.context() as patch:
        patch.setitem(workflow.ENVIRONMENT, "HF_HUB_CACHE", str(tmp_path / "empty"))
        before = hub.sent("*/resolve/*")
        screen = run(copy, "plan_mine", "--quiet", "all").stdout
        assert hub.sent("*/resolve/*") == before
    weights = (hub.revision("models", "ns/tiny") / "model.safetensors").stat().st_size
    row = re.search(r"^mine\.early +5 +([\d.]+) kB +0 B +10$", screen, re.M)
    assert row and float(row[1]) * 1e3 > weights
    assert re.search(r"^total +10 ", screen, re.M)


def test_the_lab_needs_no_hub(built, hub):
    assert "models/lab-2.6m-step0/config.json" in planned(built)
    screen = snakemake(built, "plan_lab", "--quiet", "all").stdout
    assert "Nothing to fetch" in screen
