"""Configuration mistakes are one line: file, key, what is wrong, the nearest valid name."""

import shutil
from pathlib import Path

import pytest
import yaml

from scripts.errors import UserError
from scripts.planning.reference import reference
from scripts.planning.targets import RESERVED
from scripts.planning.workflow import check_targets, load

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tree(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    for folder in ("attacks", "publish", "sources", "views"):
        shutil.copytree(ROOT / "scripts" / folder, tmp_path / "scripts" / folder)
    return tmp_path


def study(tree, text, name="mine"):
    (tree / "config" / "studies" / f"{name}.yaml").write_text(text)


FIVE_LINES = """\
title: My articles
datasets:
  articles: {path: articles.csv}
blocks:
  - {models: [lab-2.6m-step600], datasets: [articles]}
"""


def test_five_lines_make_a_study(tree):
    study(tree, FIVE_LINES)
    registry, studies = load(tree, {})
    cells = studies["mine"].cells()
    assert {cell.dataset for cell in cells} == {"mine.articles"}
    assert [cell.attack for cell in cells] == registry.config["attacks"]
    assert registry.datasets["mine.articles"]["source"] == "file"
    assert set(studies["mine"].entry["tables"]) == {"attacks", "blind"}


def test_cells_can_be_restricted(tree):
    study(tree, FIVE_LINES)
    _, studies = load(tree, {})
    assert [c.attack for c in studies["mine"].cells(attacks=["zlib", "loss"])] == ["loss", "zlib"]


def test_defaults_of_the_schema_are_the_values_of_config_yaml():
    schema = yaml.safe_load((ROOT / "config/schema.yaml").read_text())
    properties = schema["$defs"]["config"]["properties"]
    for key, value in yaml.safe_load((ROOT / "config/config.yaml").read_text()).items():
        assert properties[key]["default"] == value, key


def test_every_key_of_the_schema_is_described():
    schema = yaml.safe_load((ROOT / "config/schema.yaml").read_text())
    for name, definition in schema["$defs"].items():
        for key, value in definition.get("properties", {}).items():
            if key != "source" or "const" in value:
                shared = schema["$defs"].get(value.get("$ref", "").removeprefix("#/$defs/"), {})
                assert (shared | value).get("description"), f"{name}.{key}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: My", "titel: My", r"mine\.yaml: unknown key 'titel'; did you mean 'title'\?"),
        ("{path: articles.csv}", "{pth: a.csv}", r"datasets: articles: .*unknown key 'pth'"),
        (
            "lab-2.6m-step600",
            "lab-2.6m-step60",
            r"blocks\[0\]\.models\[0\]: no model 'lab-2\.6m-step60'; did you mean 'lab-2\.6m-step600'\?",
        ),
        (
            "datasets: [articles]",
            "datasets: [article]",
            r"blocks\[0\]\.datasets\[0\]: no dataset 'article'; did you mean 'articles'\?",
        ),
        (
            "datasets: [articles]",
            "datasets: [articles], attacks: [min-k]",
            r"no attack 'min-k'; did you mean 'min_k'\?",
        ),
        ("blocks:", "block:", r"unknown key 'block'; did you mean 'blocks'\?"),
        ("title: My articles", "title: [1]", r"title: expected a text, found a list"),
        (
            "title: My articles",
            "title: a\ntitle: b",
            r"line 2: not valid YAML: .*stands here twice",
        ),
        ("  articles:", " : articles:", r"mine\.yaml: line \d: not valid YAML"),
        (
            "articles: {path: articles.csv}",
            "articles: {of: lab-pol, where: {}}",
            r"articles\.of: no dataset 'lab-pol'; did you mean 'lab-pool'\?",
        ),
        (
            "articles: {path: articles.csv}",
            "articles: {of: lab-pool, members: {exposures: 1}}",
            r"articles: give `members` and `nonmembers`, or `where`",
        ),
        (
            "articles: {path: articles.csv}",
            "articles: {of: articles, where: {}}",
            r"articles\.of: .* goes in a circle",
        ),
        (
            "articles: {path: articles.csv}",
            "articles: {path: a.csv, baselines: [tfidf]}",
            r"articles\.baselines: no 'tfidf'; did you mean",
        ),
        (
            "articles: {path: articles.csv}",
            "articles: {source: ftp, path: a.csv}",
            r"articles\.source: 'ftp' is not valid",
        ),
    ],
)
def test_a_mistake_in_a_study_is_one_line(tree, old, new, message):
    assert old in FIVE_LINES
    study(tree, FIVE_LINES.replace(old, new))
    with pytest.raises(UserError, match=message) as error:
        load(tree, {})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"sead": 1}, r"config\.yaml: unknown key 'sead'; did you mean 'seed'\?"),
        ({"seed": "x"}, r"seed: expected integer, found 'x'"),
        ({"lab_size": "tinny"}, r"lab_size: 'tinny' is not valid; did you mean 'tiny'\?"),
        ({"bootstrap": 10}, r"bootstrap: 10 is less than the minimum of 100"),
        ({"study": "lba"}, r"study: no study 'lba'; did you mean 'lab'\?"),
        ({"attacks": ["los"]}, r"attacks: no 'los'; did you mean 'loss'\?"),
    ],
)
def test_a_mistake_in_the_config_is_one_line(tree, overrides, message):
    with pytest.raises(UserError, match=message):
        load(tree, overrides)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{source: lab, training: lab-9m, step: 0}", r"no 'lab-9m'; "),
        ("{source: lab, training: lab-2.6m, step: 7}", r"step: 7 is no checkpoint"),
        ("{source: local}", r"the key 'path' is missing"),
        ("{source: lokal, path: x}", r"'lokal' is not valid; did you mean 'local'\?"),
        ("{source: hub, id: pythia}", r"id: 'pythia' is not valid: The repository, namespace/name"),
    ],
)
def test_a_mistake_in_a_model_is_one_line(tree, entry, message):
    study(tree, f"models: {{mine: {entry}}}\n" + FIVE_LINES)
    with pytest.raises(UserError, match=message):
        load(tree, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tables: {a: {kind: attacks, modles: [x]}}", r"tables\.a: unknown key 'modles'; did you"),
        (
            "tables: {a: {kind: attacks, settings: ['min_k(ratio=0.9)']}}",
            r"tables\.a\.settings: no setting 'min_k\(ratio=0\.9\)'; did you mean 'min_k",
        ),
        ("tables: {a: {kind: atacks}}", r"tables\.a\.kind: 'atacks' is not valid; did you mean"),
    ],
)
def test_a_mistake_in_a_table_is_found_before_anything_runs(tree, text, message):
    study(tree, FIVE_LINES + text + "\n")
    with pytest.raises(UserError, match=message):
        load(tree, {})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{path: articles.csv}", r"dataset mine\.articles: path: articles\.csv is not there"),
        ("{path: .}", r"path: \. is a folder, not a file"),
    ],
)
def test_a_missing_file_is_found_even_if_all_is_built(tree, entry, message, monkeypatch):
    study(tree, FIVE_LINES.replace("{path: articles.csv}", entry))
    monkeypatch.chdir(tree)
    monkeypatch.setattr("sys.argv", ["snakemake", "mine"])
    with pytest.raises(UserError, match=message):
        check_targets(*load(tree, {}))
    monkeypatch.setattr("sys.argv", ["snakemake", "lab"])
    check_targets(*load(tree, {}))


def test_a_study_that_ends_in_yml_is_not_ignored(tree):
    (tree / "config/studies/mine.yml").write_text(FIVE_LINES)
    with pytest.raises(UserError, match=r"rename it to mine\.yaml"):
        load(tree, {})


def test_a_study_named_like_a_rule_is_refused(tree):
    study(tree, FIVE_LINES, name="scores")
    with pytest.raises(UserError, match=r"scores\.yaml: 'scores' is the name of a rule"):
        load(tree, {})


def test_a_figure_named_like_a_table_is_refused(tree):
    study(tree, FIVE_LINES + "tables: {a: {kind: attacks}}\nfigures: {a: {kind: roc}}\n")
    with pytest.raises(UserError, match=r"'a' is taken"):
        load(tree, {})


def test_a_file_that_is_not_utf8_is_named(tree):
    (tree / "config/studies/mine.yaml").write_bytes(b"title: caf\xe9\n")
    with pytest.raises(UserError, match=r"mine\.yaml: not UTF-8 at byte 10"):
        load(tree, {})


def test_own_attack_settings_of_a_study(tree):
    text = FIVE_LINES + (
        "attacks:\n  wide: {module: gap_k, title: W, access: distribution, "
        "columns: [logprob], settings: {window: [9]}}\n"
    )
    study(tree, text.replace("datasets: [articles]", "datasets: [articles], attacks: [wide]"))
    registry, studies = load(tree, {})
    assert [cell.attack for cell in studies["mine"].cells()] == ["mine.wide"]
    assert list(registry.settings("mine.wide")) == ["mine.wide(window=9)"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "results/scores/lab-2.6m-step60/lab-pool/loss.parquet",
            r"no model 'lab-2\.6m-step60'; did",
        ),
        ("results/metrics/lab-2.6m-step600/lab-pol/loss.parquet", r"no dataset 'lab-pol'; did"),
        (
            "results/scores/lab-2.6m-step600/lab-pool/los.parquet",
            r"no attack 'los'; did you mean 'lo",
        ),
        ("results/studies/lap/table_1.csv", r"no study 'lap'; did you mean 'lab'"),
        ("results/studies/lab/tabel_1.csv", r"the study has no 'tabel_1'; did you mean 'table_"),
        ("lap", r"no target 'lap'; did you mean 'lab'"),
    ],
)
def test_an_unknown_target_names_the_nearest(target, message, monkeypatch):
    monkeypatch.setattr("sys.argv", ["snakemake", "-n", target])
    with pytest.raises(UserError, match=message):
        check_targets(*load(ROOT, {}))


def test_known_targets_pass(monkeypatch):
    scores = "results/scores/lab-2.6m-step600/lab-pool/loss.parquet"
    monkeypatch.setattr(
        "sys.argv", ["snakemake", "lab", scores, "results/gates/lab-shifted.parquet", "README.md"]
    )
    check_targets(*load(ROOT, {}))


def test_reserved_names_hold_every_rule():
    import re

    for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]:
        for name in re.findall(r"^rule (\w+):", path.read_text(), re.M):
            assert name in RESERVED, name


def test_the_page_of_all_keys_is_made_from_the_schema():
    schema = yaml.safe_load((ROOT / "config/schema.yaml").read_text())
    assert (ROOT / "docs/config.md").read_text() == reference(schema)
