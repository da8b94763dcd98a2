"""What an endpoint does not give is left out of a study and said so, never approximated."""

import pytest

from scripts.errors import UserError
from scripts.planning.access import refuse_lacking
from scripts.planning.publishing import everything, found, item_settings, report_settings
from scripts.planning.workflow import load
from scripts.publish.parts import not_available
from tests.workflow import checkout

STUDY = """\
datasets:
  articles: {{path: articles.csv}}
models:
  far: {{source: endpoint, url: "{url}", model: m, tokenizer: tok, title: Far{more}}}
  here: {{source: local, path: here, title: Here}}
blocks:
  - {{models: [far, here], datasets: [articles], attacks: [{attacks}]}}
comparisons:
  c: {{settings: ["loss", "gap_k(window=3,ratio=0.2)"]}}
tables:
  a: {{kind: attacks}}
  some: {{kind: attacks, models: [far], settings: ["gap_k(window=3,ratio=0.2)", "loss"]}}
  calls: {{kind: calibration, settings: ["min_k_plus_plus(ratio=0.2)", "zlib"]}}
  c: {{kind: comparison, of: c}}
"""
BLOCKS = STUDY.partition("comparisons:")[0]
ATTACKS = "loss, zlib, gap_k, min_k_plus_plus, mope, samia, gradient_norm"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return checkout(tmp_path_factory.mktemp("tree") / "pretrace")


@pytest.fixture
def study(tree):
    def write(more="", attacks=ATTACKS, url="http://localhost:8000/v1", text=STUDY):
        text = text.format(url=url, more=more, attacks=attacks)
        (tree / "config" / "studies" / "mine.yaml").write_text(text)
        registry, studies = load(tree, {})
        return registry, studies["mine"]

    return write


def test_cells_that_cannot_be_had_are_left_out(study):
    registry, mine = study()
    cells = [(cell.model, cell.attack) for cell in mine.cells()]
    assert [attack for model, attack in cells if model == "mine.far"] == ["loss", "zlib"]
    here = [attack for model, attack in cells if model == "mine.here"]
    assert here == ATTACKS.split(", ")
    paths = found(registry, mine, mine.entry["tables"]["calls"])
    assert paths == [
        "calibration/mine.far/mine.articles/zlib",
        "calibration/mine.here/mine.articles/zlib",
        "calibration/mine.here/mine.articles/min_k_plus_plus",
    ]
    assert found(registry, mine, mine.entry["tables"]["c"]) == [
        "comparisons/mine.here/mine.articles/mine.c"
    ]
    assert not {
        (cell.model, cell.attack)
        for cell in everything(registry, mine)
        if cell.model == "mine.far" and cell.attack not in ("loss", "zlib")
    }


def test_tables_and_the_report_say_what_is_not_available(study):
    registry, mine = study()
    whole = [
        "Not available on Far: Gap-K% and Min-K%++, which need the distribution over the vocabulary.",
        "Not available on Far: MoPe, which needs the weights.",
        "Not available on Far: SaMIA, which needs sampled continuations.",
        "Not available on Far: Gradient norm, which needs gradients.",
    ]
    for told in (item_settings(registry, mine, "tables", "a"), report_settings(registry, mine)):
        assert list(not_available(told["lacking"])) == whole
    some = item_settings(registry, mine, "tables", "some")
    assert some["settings"] == ["loss"]  # what no model of the table has would be an error
    calls = item_settings(registry, mine, "tables", "calls")
    assert calls["lacking"] == [{"model": "Far", "needs": "distribution", "attacks": ["Min-K%++"]}]
    assert calls["settings"] == ["min_k_plus_plus(ratio=0.2)", "zlib"]
    # Studies without an endpoint are told nothing new: their tables are not made again.
    registry, other = study(attacks="loss", text=BLOCKS)
    assert "lacking" not in item_settings(registry, other, "tables", "attacks")


def test_the_level_of_access_decides(study):
    # An attack of access `top`: there is none yet in config/attacks.yaml.
    registry, _ = study()
    registry.attacks["t"] = {**registry.attacks["loss"], "access": "top"}
    refuse_lacking(registry, "mine.far", "t")
    registry, _ = study(more=", top: false")
    registry.attacks["t"] = {**registry.attacks["loss"], "access": "top"}
    with pytest.raises(UserError, match="attack t cannot be had on model mine.far: .* 'top'"):
        refuse_lacking(registry, "mine.far", "t")
    refuse_lacking(registry, "mine.here", "t")


def test_prefixes_need_prompts_of_ids(study):
    _, mine = study(attacks="loss, recall, lowercase", text=BLOCKS)
    assert not mine.lacking
    registry, mine = study(", prompt: text", "loss, recall, lowercase", text=BLOCKS)
    assert mine.lacking == {("mine.far", "recall"): "ids"}
    told = report_settings(registry, mine)["lacking"]
    assert list(not_available(told)) == [
        "Not available on Far: ReCaLL, which needs prompts of token ids."
    ]


def test_a_study_of_nothing_is_refused(study):
    with pytest.raises(UserError, match="no attack can be had on these models"):
        study(attacks="gap_k, min_k_plus_plus", text=BLOCKS.replace("[far, here]", "[far]"))


@pytest.mark.parametrize(
    ("more", "url", "key"),
    [
        (", key_variable: sk-abc-def", "http://localhost/v1", "key_variable"),
        ("", "http://user:sk-abc-def@localhost/v1", "url"),
        ("", "http://localhost/v1?key=sk-abc-def", "url"),
        ("", "localhost:8000/v1", "url"),
    ],
)
def test_a_secret_in_a_file_is_refused_and_not_repeated(study, more, url, key):
    with pytest.raises(UserError, match=rf"mine.yaml: models: far.{key}: expected") as caught:
        study(more=more, url=url)
    assert "abc" not in str(caught.value)
