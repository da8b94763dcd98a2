"""Snakemake from the registry's benchmarks to texts: fetched, again, offline, and what goes wrong."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.planning.workflow import load
from tests import dataset_files as made
from tests import workflow
from tests.hub import Fault, Hub
from tests.workflow import checkout, snakemake

FOLDER = "results/tiny"
LOCK = "config/hub.lock.yaml"
MIMIR, WIKIMIA = "mimir-arxiv-ngram_13_0.8", "wikimia-32"
NAMES = [MIMIR, WIKIMIA, "bookmia", "bookmia-34", "arxivtection"]
TARGETS = [f"{FOLDER}/texts/{name}/original.parquet" for name in NAMES]
TARGETS += [f"{FOLDER}/texts/{name}/published_neighbours.parquet" for name in (MIMIR, WIKIMIA)]


def entries() -> str:
    return (workflow.ROOT / "config/datasets.yaml").read_text()


def left_out() -> list[str]:
    """The titles that the entry bookmia-34 leaves out, as the registry has them."""
    books = load(workflow.ROOT, {})[0].datasets["bookmia-34"]
    return books["where"]["group"]["not"]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with Hub(tmp_path_factory.mktemp("hub"), redirect=True) as hub:
        made.mimir(hub)
        made.wikimia(hub)
        kept = ["Emma.txt", "Ulysses.txt"]
        famous = [f"{title.capitalize()}.txt" for title in left_out()]
        made.bookmia(hub, [*famous, *kept, *(f"New {n}" for n in range(18))])
        made.arxivtection(hub)
        yield hub


@pytest.fixture(scope="module")
def environment(hub, tmp_path_factory):
    with workflow.asking(hub.endpoint, tmp_path_factory.mktemp("cache")) as patch:
        yield patch


def small(tree: Path) -> Path:
    """A checkout whose benchmarks may have other counts than the published ones."""
    text = re.sub(r"counts: \{[^}]+\}", "counts: {}", entries())
    (tree / "config/datasets.yaml").write_text(text)
    return tree


@pytest.fixture(scope="module")
def built(tmp_path_factory, hub, environment):
    tree = small(checkout(tmp_path_factory.mktemp("built") / "pretrace"))
    snakemake(tree, *TARGETS)
    return tree


def read(tree: Path, name: str, view: str = "original") -> list[dict]:
    return TEXTS.read(tree / FOLDER / "texts" / name / f"{view}.parquet").to_pylist()


def test_mimir_has_bare_lines_and_lists_of_neighbours(built, hub):
    texts = read(built, MIMIR)
    train, test = ([made.sentence(split, n) for n in range(20)] for split in ("train", "test"))
    assert [row["text"] for row in texts] == train + test
    assert [row["label"] for row in texts] == [1] * 20 + [0] * 20
    neighbours = read(built, MIMIR, "published_neighbours")
    assert [row["text"] for row in neighbours[:4]] == [
        *(f"{train[0]} {n}" for n in range(3)),
        f"{train[1]} 0",
    ]
    assert [(row["text_id"], row["label"]) for row in neighbours] == [
        (row["text_id"], row["label"]) for row in texts for _ in range(3)
    ]
    commit = hub.commit("datasets", "iamgroot42/mimir")
    about = provenance(built / TARGETS[0])["hub"]
    assert (about["id"], about["revision"], about["commit"]) == ("iamgroot42/mimir", "main", commit)
    assert f"datasets/iamgroot42/mimir@main: {commit}" in (built / LOCK).read_text()


def test_wikimia_has_neighbours_in_blocks_of_another_repository(built):
    texts = read(built, WIKIMIA)
    assert Counter(row["label"] for row in texts) == {0: 6, 1: 6}
    neighbours = read(built, WIKIMIA, "published_neighbours")
    assert [row["text"] for row in neighbours] == [
        f"{row['text']} {n}" for row in texts for n in range(2)
    ]


def test_bookmia_groups_books_and_leaves_16_out(built):
    texts, fewer = read(built, "bookmia"), read(built, "bookmia-34")
    assert Counter(Counter(row["group"] for row in texts).values()) == {3: 36}
    assert {row["group"] for row in texts} - {row["group"] for row in fewer} == set(left_out())
    assert {row["group"] for row in fewer if row["label"]} == {"emma", "ulysses"}


def test_arxivtection_takes_the_verbatim_excerpt(built):
    texts = read(built, "arxivtection")
    assert [row["text"] for row in texts] == [made.sentence("verbatim", n) for n in range(8)]
    assert [row["label"] for row in texts] == [0] * 4 + [1] * 4
    assert [row["group"] for row in texts[:3]] == ["paper 0", "paper 0", "paper 1"]


def test_again_and_for_show_nothing_reruns(built, hub):
    asked = len(hub.requests)
    path = built / "config/datasets.yaml"
    before = path.read_text()
    path.write_text(before.replace('title: "WikiMIA, 32 words"', "title: W\n  baselines: []"))
    assert "Nothing to be done" in snakemake(built, *TARGETS).stdout
    path.write_text(before)
    assert len(hub.requests) == asked


def test_offline_from_the_cache_gives_the_same_bytes(built, tmp_path, hub, environment):
    tree = small(checkout(tmp_path / "offline"))
    shutil.copy(built / LOCK, tree / LOCK)
    asked = len(hub.requests)
    with environment.context() as patch:
        patch.setitem(workflow.ENVIRONMENT, "HF_HUB_OFFLINE", "1")
        patch.setitem(workflow.ENVIRONMENT, "HF_ENDPOINT", "http://127.0.0.1:9")
        snakemake(tree, *TARGETS)
    assert len(hub.requests) == asked
    for target in TARGETS:
        assert (tree / target).read_bytes() == (built / target).read_bytes()


def test_a_changed_pin_loads_its_dataset_again_and_nothing_else(built, tmp_path, hub):
    tree = Path(shutil.copytree(built, tmp_path / "copy", symlinks=True))
    old = hub.commit("datasets", "avduarte333/arXivTection")
    path = hub.revision("datasets", "avduarte333/arXivTection") / "0_arXivTection_data.csv"
    content = path.read_bytes()
    try:
        path.write_bytes(content.replace(b"paper 0", b"paper 9"))
        assert "Nothing to be done" in snakemake(tree, *TARGETS).stdout
        pins = (tree / LOCK).read_text()
        new = hub.commit("datasets", "avduarte333/arXivTection")
        (tree / LOCK).write_text(pins.replace(old, new))
        screen = snakemake(tree, *TARGETS).stdout
        assert re.findall(r"^ *output: ([^\s,]+)", screen, re.M) == [
            f"{FOLDER}/datasets/arxivtection/original/hub.json",
            f"{FOLDER}/texts/arxivtection/original.parquet",
        ]
        assert read(tree, "arxivtection")[0]["group"] == "paper 9"
    finally:
        path.write_bytes(content)


def test_what_goes_wrong_is_one_line_each(tmp_path, hub, environment):
    tree = checkout(tmp_path / "wrong")
    mine = """
datasets:
  columns: {source: hub, id: swj0419/WikiMIA, files: ["data/*.parquet"], columns: {text: snippet}}
  files: {source: hub, id: swj0419/WikiMIA, files: ["date/*.parquet"]}
  absent: {source: hub, id: ns/absent, files: ["*"]}
"""
    (tree / "config/studies/mine.yaml").write_text(mine)
    names = [WIKIMIA, MIMIR, "arxivtection", "mine.columns", "mine.files", "mine.absent"]
    hub.gate("iamgroot42/mimir", "hf_right")
    hub.fail(Fault("*/0_arXivTection_data.csv", corrupt=True))
    try:
        with environment.context() as patch:
            patch.setitem(workflow.ENVIRONMENT, "HF_HUB_CACHE", str(tmp_path / "empty"))
            targets = [f"{FOLDER}/texts/{name}/original.parquet" for name in names]
            done = snakemake(tree, "--keep-going", *targets, ok=False)
    finally:
        hub.gates.clear()
        hub.faults.clear()
    assert done.returncode != 0
    last = "\n".join(done.stdout.strip().splitlines()[-len(names) :])
    commit = hub.commit("datasets", "swj0419/WikiMIA")[:12]
    for line in (
        rf"dataset wikimia-32: swj0419/WikiMIA@{commit} has 12 rows \(expected: 776\); look at",
        r"dataset iamgroot42/mimir@\w+: gated: accept its terms at http.* and set HF_TOKEN to a",
        r"dataset avduarte333/arXivTection@\w+: 0_arXivTection_data\.csv came twice with other by",
        rf"mine\.columns: swj0419/WikiMIA@{commit}: data/.*, row 1: no column 'snippet'; it has in",
        r"dataset swj0419/WikiMIA@main: no file date/\*\.parquet; mend `files` of the entry; it h",
        r"dataset ns/absent@main: not found at http",
    ):
        assert re.search(rf"^pretrace: error: .*{line}", last, re.M), (line, last)
    assert not list((tree / "results").rglob("original.parquet"))


def test_a_plan_counts_what_is_missing(built, hub):
    study = "datasets: {}\nblocks: [{models: [lab-0.36m-step0], datasets: [wikimia-32]}]\n"
    path = built / "config/studies/priced.yaml"
    path.write_text(study)
    try:
        screen = snakemake(built, "plan_priced", "--quiet", "all").stdout
    finally:
        path.unlink()
    assert re.search(r"^wikimia-32 +1 +0 B +[\d.]+ kB +0$", screen, re.M), screen
    manifest = json.loads((built / FOLDER / "datasets/wikimia-32/original/hub.json").read_text())
    assert [file["size"] > 1000 for file in manifest["files"].values()] == [True]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("files: [a], shape: plian", r"datasets: x\.shape: no 'plian'; did you mean 'plain'\?"),
        (
            "files: ['{part}.csv']",
            r"x\.files\[0\]: \{part\}\.csv: give `part`, which stands for \{part\}",
        ),
        ("files: [a], rewritings: {swaps: {files: [b]}}", "no view 'swaps' of the module 'publ"),
        ("files: [{path: a, labl: 1}]", r"x\.files\[0\]: unknown key 'labl'; did you mean 'label'"),
        ("files: [a], columns: {txt: b}", r"x: columns: unknown key 'txt'; did you mean 'text'\?"),
    ],
)
def test_a_mistake_in_an_entry_is_one_line(tmp_path, entry, message):
    tree = checkout(tmp_path / "mine")
    path = tree / "config/studies/mine.yaml"
    path.write_text(f"datasets: {{x: {{source: hub, id: n/d, {entry}}}}}\n")
    with pytest.raises(UserError, match=message):
        load(tree, {})


def test_neighbours_that_nobody_published_are_refused(tmp_path):
    tree = checkout(tmp_path / "mine")
    block = "{models: [lab-0.36m-step0], datasets: [bookmia-34], attacks: [neighbour_published]}"
    (tree / "config/studies/mine.yaml").write_text(f"blocks: [{block}]\n")
    with pytest.raises(UserError, match="which the authors of bookmia-34 have not published"):
        load(tree, {})
