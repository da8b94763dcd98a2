"""Ensembles, transfers, inferences and comparisons of a study: names, files, mistakes."""

import shutil
from pathlib import Path

import pytest

from scripts.errors import UserError
from scripts.planning.publishing import everything, found, gated, item_settings, jobs
from scripts.planning.workflow import load

ROOT = Path(__file__).parents[1]

STUDY = """\
datasets:
  old: {path: old.csv}
  articles: {path: articles.csv, calibration: old}
ensembles:
  three: {title: Three, settings: ["loss", "zlib", "min_k(ratio=0.2)"]}
transfers:
  t: {ensemble: three, datasets: [lab-checkpoint, lab-shifted]}
inferences:
  i: {settings: ["loss", "tag_tab(k=4)"]}
comparisons:
  c: {settings: ["loss", "zlib"], reference: loss}
blocks:
  - {models: [lab-2.6m-step600], datasets: [lab-checkpoint], attacks: [loss, three]}
tables:
  a: {kind: attacks, settings: [three, "loss"]}
  t: {kind: transfer, of: t}
  i: {kind: inference, of: i}
  c: {kind: comparison, of: c}
  g: {kind: groups}
  calls: {kind: calibration, models: [lab-2.6m-step0], datasets: [articles], settings: ["zlib"]}
"""


@pytest.fixture
def tree(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=ignored)
    return tmp_path


def study(tree, text=STUDY):
    (tree / "config" / "studies" / "mine.yaml").write_text(text)
    registry, studies = load(tree, {})
    return registry, studies["mine"]


def test_names_are_the_registrys(tree):
    registry, mine = study(tree)
    assert [cell.attack for cell in mine.cells()] == ["loss", "mine.three"]
    assert registry.attacks_of("mine.three") == ["loss", "zlib", "min_k"]
    assert registry.settings("mine.three") == {"mine.three": {}}
    assert registry.title("attacks", "mine.three") == "Three"
    assert mine.entry["tables"]["a"]["settings"] == ["mine.three", "loss"]
    assert registry.datasets["mine.articles"]["calibration"] == "mine.old"
    assert registry.transfers["mine.t"]["settings"][0] == "loss"
    assert registry.ensembles["mine.three"]["classifier"] == "xgboost"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("a", []),
        ("t", ["transfers/lab-2.6m-step600/mine.t"]),
        ("i", ["inferences/lab-2.6m-step600/lab-checkpoint/mine.i"]),
        ("c", ["comparisons/lab-2.6m-step600/lab-checkpoint/mine.c"]),
        ("g", ["groups/lab-2.6m-step600/lab-checkpoint/loss"]),
        ("calls", ["calibration/lab-2.6m-step0/mine.articles/zlib"]),
    ],
)
def test_the_files_behind_a_table(tree, table, expected):
    registry, mine = study(tree)
    assert found(registry, mine, mine.entry["tables"][table]) == expected


def test_tables_know_what_they_show(tree):
    registry, mine = study(tree)
    of_transfer = item_settings(registry, mine, "tables", "t")
    assert of_transfer["order"]["datasets"] == ["lab-checkpoint", "lab-shifted"]
    calls = item_settings(registry, mine, "tables", "calls")
    assert calls["fpr"] == 0.05 and calls["places"] == [("lab-2.6m-step0", "mine.articles")]
    assert "mine.old" in calls["titles"]["datasets"]
    # Blind baselines need members, which only a block promises.
    assert gated(registry, mine, "tables", mine.entry["tables"]["t"]) == ["lab-checkpoint"]
    assert gated(registry, mine, "tables", mine.entry["tables"]["calls"]) == []
    assert {cell.dataset for cell in everything(registry, mine)} >= {"mine.articles", "mine.old"}
    assert "combine/lab-2.6m-step600/lab-checkpoint/mine.three" in jobs(registry, mine)
    assert "cross/lab-2.6m-step600/mine.t" in jobs(registry, mine)


def test_an_auditor_needs_no_block_and_no_member(tree):
    text = (
        "datasets: {articles: {path: articles.csv}}\n"
        "tables: {calls: {kind: calibration, models: [lab-2.6m-step0], datasets: [articles]}}\n"
    )
    registry, mine = study(tree, text)
    assert mine.cells() == [] and list(mine.entry["tables"]) == ["calls"]
    assert mine.entry["figures"] == {}
    files = found(registry, mine, mine.entry["tables"]["calls"])
    assert "calibration/lab-2.6m-step0/mine.articles/gap_k" in files
    assert len(files) == len(registry.config["attacks"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"min_k(ratio=0.2)"]',
            '"min_k(ratio=2)"]',
            r"ensembles\.three\.settings: no setting 'min_",
        ),
        ("ensemble: three", "ensemble: tree", r"transfers\.t\.ensemble: no ensemble of the study"),
        ("lab-shifted]", "lab-shiftd]", r"transfers\.t\.datasets: no dataset 'lab-shiftd'; did"),
        ("reference: loss", "reference: zlb", r"comparisons\.c\.reference: no setting of its own"),
        ("title: Three", "classifier: trees", r"ensembles\.three.*'trees' is not valid"),
        ("kind: inference, of: i", "kind: inference", r"tables\.i: the key 'of' is missing"),
        ("of: c", "of: d", r"tables\.c\.of: no comparison of the study 'd'; valid: c"),
        ("kind: groups", "kind: groups, of: c", r"tables\.g\.of: only the kinds transfer, "),
        ("kind: groups", "kind: groups, settings: [three]", r"tables\.g\.settings: no setting 'th"),
        ("calibration: old", "calibration: odl", r"articles\.calibration: no dataset 'odl'; valid"),
        ("calibration: old", "calibration: articles", r"articles\.calibration: it names itself"),
    ],
)
def test_a_mistake_is_one_line(tree, old, new, message):
    assert old in STUDY
    with pytest.raises(UserError, match=message) as error:
        study(tree, STUDY.replace(old, new))
    assert "\n" not in str(error.value)


def test_an_ensemble_named_like_an_attack_of_the_study_is_refused(tree):
    own = "attacks: {three: {module: loss, title: L, access: token, columns: [logprob]}}\n"
    with pytest.raises(UserError, match=r"ensembles\.three: the study has an attack of this name"):
        study(tree, own + STUDY)
