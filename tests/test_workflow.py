"""The tiny lab end to end, and what reruns when something changes."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.workflow import checkout, last_line, planned, run, snakemake

STUDY = "results/tiny/studies/lab"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    tree = checkout(tmp_path_factory.mktemp("built") / "pretrace")
    snakemake(tree, "lab")
    return tree


@pytest.fixture
def copy(built, tmp_path):
    """A copy of the built tree that a test may change; file times stay as they are."""
    return Path(shutil.copytree(built, tmp_path / "copy", symlinks=True))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_second_run_has_nothing_to_do(built):
    assert "Nothing to be done" in snakemake(built, "lab").stdout


def test_everything_that_the_study_names_is_there(built):
    names = {path.name for path in (built / STUDY).iterdir()}
    assert {"table_1.csv", "table_2.tex", "ages.pdf", "roc.svg", "sanity.json"} <= names
    checks = json.loads((built / STUDY / "sanity.json").read_text())
    assert all({"check", "value", "bound", "ok"} <= set(check) for check in checks)
    assert not list((built / "results").rglob("*.part"))
    assert not list((built / "results").rglob("*.unfinished*"))


def test_the_report_loads_nothing(built):
    page = (built / STUDY / "report.html").read_text()
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page)


def test_snakemakes_own_report(built, tmp_path):
    page = tmp_path / "report.html"
    snakemake(built, "lab", "--report", str(page))
    text = page.read_text()
    assert "table_2" in text and "exposures" in text


def test_a_build_from_scratch_gives_the_same_tables(built, tmp_path):
    other = checkout(tmp_path / "other")
    snakemake(other, "lab")
    for path in sorted((built / STUDY).iterdir()):
        if path.suffix in {".csv", ".tex", ".md", ".svg", ".pdf", ".png", ".json"}:
            assert path.read_bytes() == (other / STUDY / path.name).read_bytes(), path.name


def test_touching_everything_reruns_nothing(copy):
    for path in copy.rglob("*"):
        if ".snakemake" not in path.parts:
            os.utime(path)
    assert planned(copy) == set()


def test_a_moved_checkout_reruns_nothing(copy, tmp_path):
    moved = copy.rename(tmp_path / "moved elsewhere")
    assert planned(moved) == set()


def test_comments_and_docstrings_in_shared_code_rerun_nothing(copy):
    for name in ("cli", "tokens", "contracts/table", "evaluation/roc", "lab/train", "seeds"):
        path = copy / "scripts" / f"{name}.py"
        edit(path, '"""', '"""Reworded: ')
        path.write_text(path.read_text() + "\n# a comment\n")
    assert planned(copy) == set()


def test_an_edit_of_an_attack_reruns_its_scores_and_what_follows(copy):
    path = copy / "scripts/attacks/gap_k.py"
    path.write_text(path.read_text() + "\n\ndef unused() -> None:\n    return None\n")
    outputs = planned(copy)
    assert outputs
    steps = {re.match(r"scores|metrics|studies", output)[0] for output in outputs}
    assert steps == {"scores", "metrics", "studies"}
    assert all(
        output.endswith("/gap_k.parquet") for output in outputs if not output.startswith("studies")
    )


def test_a_new_setting_reruns_no_pass_and_no_other_attack(copy):
    edit(
        copy / "config/attacks.yaml",
        "settings: {ratio: [0.1, 0.2, 0.3]}",
        "settings: {ratio: [0.1, 0.2, 0.3, 0.4]}",
    )
    outputs = {output for output in planned(copy) if not output.startswith("studies")}
    assert outputs
    assert all(re.match(r"(scores|metrics)/.*/min_k\.parquet", output) for output in outputs)


def test_swapping_two_values_reruns(copy):
    """As a set of values, layers 2 and heads 1 are layers 1 and heads 2."""
    path = copy / "config/lab.yaml"
    text = path.read_text()
    shape = "lab-2.6m: {order: lab, hidden: 32, layers: 2, heads: 1"
    assert shape in text
    path.write_text(
        text.replace(shape, shape.replace("layers: 2, heads: 1", "layers: 1, heads: 2"))
    )
    assert "models/lab-2.6m-step600/model.safetensors" in planned(copy)


def test_an_edit_of_evaluation_code_plans_no_pass(copy):
    path = copy / "scripts/evaluation/roc.py"
    path.write_text(path.read_text() + "\n\nUNUSED = 1\n")
    assert not {o for o in planned(copy) if o.startswith(("tokens", "models", "scores", "blind"))}


def test_another_directory(built, tmp_path):
    target = "results/tiny/texts/lab-pool/original.parquet"
    snakemake(built, "--directory", str(tmp_path), target, cwd=tmp_path)
    assert (tmp_path / target).read_bytes() == (built / target).read_bytes()


def test_a_checkout_with_a_space_runs_a_users_texts(tmp_path):
    tree = checkout(tmp_path / "my checkout")
    rows = [f"Text number {n} of mine says something of its own.,{n % 2}" for n in range(40)]
    (tree / "mine.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (tree / "config/studies/mine.yaml").write_text(
        "title: Mine\ndatasets:\n  texts: {path: mine.csv}\nblocks:\n"
        "  - {models: [lab-0.36m-step600], datasets: [texts], attacks: [loss, zlib]}\n"
    )
    snakemake(tree, "mine", permutations=19)
    table = (tree / "results/tiny/studies/mine/attacks.csv").read_text()
    assert "mine.texts" in table and "zlib" in table
    (tree / "mine.csv").write_text("text,label\nA text.,1\nAnother text.,2\n")
    done = snakemake(tree, "mine", ok=False)
    assert done.returncode != 0
    assert last_line(done).startswith("pretrace: error: mine.csv"), last_line(done)
    assert not (tree / "results/tiny/texts/mine.texts/original.parquet").exists()


def test_imported_by_a_workflow_with_scripts_of_its_own(tmp_path):
    tree = checkout(tmp_path / "modules/pretrace")
    host = tmp_path / "host"
    (host / "scripts").mkdir(parents=True)
    (host / "scripts/__init__.py").write_text("raise SystemExit('the scripts of the host')\n")
    (host / "scripts/cli.py").write_text("raise SystemExit('the scripts of the host')\n")
    (host / "Snakefile").write_text(
        f"""
module pretrace:
    snakefile: {str(tree / "Snakefile")!r}
    config: {{"lab_size": "tiny"}}
    pathvars: results="results/membership"

use rule * from pretrace as pretrace_*


rule of_the_host:
    input:
        "results/membership/texts/lab-pool/original.parquet",
"""
    )
    target = "results/membership/texts/lab-pool/original.parquet"
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "of_the_host"]
    done = run(command, host)
    assert done.returncode == 0, done.stdout[-3000:]
    assert (host / target).is_file()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "results/tiny/scores/lab-2.6m-step60/lab-pool/loss.parquet",
            "did you mean 'lab-2.6m-step600'?",
        ),
        ("lba", "no target 'lba'; did you mean 'lab'?"),
    ],
)
def test_an_unknown_target_is_one_line(built, target, message):
    done = snakemake(built, "-n", target, ok=False)
    assert done.returncode != 0
    assert last_line(done).endswith(message)


def test_a_mistake_in_a_study_is_the_last_line(copy):
    edit(copy / "config/studies/lab.yaml", "blocks:", "bloks:")
    done = snakemake(copy, "-n", "lab", ok=False)
    assert done.returncode != 0
    assert last_line(done).endswith("lab.yaml: unknown key 'bloks'; did you mean 'blocks'?")
