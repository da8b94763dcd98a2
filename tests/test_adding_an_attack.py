"""A new attack is one file and one entry: tables, figures and docs have it without another edit."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.planning.catalogue import catalogue
from tests.workflow import ROOT, checkout, snakemake

GUIDE = ROOT / "docs" / "adding-an-attack.md"


def test_the_page_of_attacks_is_up_to_date():
    attacks = yaml.safe_load((ROOT / "config/attacks.yaml").read_text())
    # If this fails: python -m scripts.planning.catalogue
    page = catalogue(attacks, ROOT / "scripts/attacks")
    assert (ROOT / "docs/attacks.md").read_text() == page


def guide_example(language: str, heading: str) -> str:
    """The code of the guide below a heading."""
    part = GUIDE.read_text().partition(f"\n## {heading}")[2]
    return re.search(rf"```{language}\n(.*?)```", part, re.DOTALL)[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A checkout to which the guide's example was added, and a user's study that names it."""
    tree = checkout(tmp_path_factory.mktemp("toy") / "pretrace")
    rows = [f"Text number {n} of mine says {n * n} things of its own.,{n % 2}" for n in range(40)]
    (tree / "mine.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (tree / "config/studies/mine.yaml").write_text(
        "title: Mine\ndatasets:\n  texts: {path: mine.csv, baselines: []}\nblocks:\n"
        "  - {models: [lab-0.36m-step0], datasets: [texts], attacks: [loss, low_share]}\n"
    )
    # From here on as the guide says: one file, one entry.
    (tree / "scripts/attacks/low_share.py").write_text(guide_example("python", "1. The file"))
    with (tree / "config/attacks.yaml").open("a") as file:
        file.write("\n" + guide_example("yaml", "2. The entry"))
    snakemake(tree, "mine")
    return tree


SETTINGS = ("low_share(bound=-8)", "low_share(bound=-4)")


def test_tables_have_it(built):
    table = (built / "results/tiny/studies/mine/attacks.csv").read_text()
    assert all(setting in table for setting in SETTINGS)


def test_figures_have_it(built):
    figure = (built / "results/tiny/studies/mine/roc.svg").read_text()
    assert "Low share" in figure


def test_the_report_has_it(built):
    report = (built / "results/tiny/studies/mine/report.html").read_text()
    assert "Low share" in report


def test_docs_have_it(built):
    (built / "docs").mkdir()
    command = [sys.executable, "-m", "scripts.planning.catalogue"]
    subprocess.run(command, cwd=built, check=True)
    page = (built / "docs/attacks.md").read_text()
    assert all(f"`{setting}`" in page for setting in SETTINGS)
    assert "the share of a text's tokens with a log-prob under a bound" in page
