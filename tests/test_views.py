"""Rewritten texts: lower case, swaps, shots, given ones; what every view keeps; the step."""

import json
import re
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.planning.registry import load_registry
from scripts.sources import view as view_source
from scripts.view import counts
from scripts.views import given, lowercase, shots, swaps
from scripts.views.tables import part
from tests.workflow import ROOT

TEXT = ["One two\nTHREE  four five six seven eight nine ten", "ÉTÉ", "a b"]


def table(strings: list[str], labels: list[int], prefix: str = "t", **optional) -> pa.Table:
    names = [f"{prefix}{i}" for i in range(len(strings))]
    columns = {
        "text_id": names,
        "text": strings,
        "label": labels,
        "group": [f"g {n}" for n in names],
    }
    schema = [*TEXTS.required, *(TEXTS.optional.field(name) for name in optional)]
    return pa.table({**columns, **optional}, schema=pa.schema(schema))


TEXTS_ = table(TEXT, [1, 0, 1], token_ids=[[1, 2], [3], [4]])
ASIDE = table([f"member {i} of many" for i in range(9)] + ["lone stranger"], [1] * 9 + [0], "aside")


def strings(rewritten: pa.Table, name: str) -> list[str]:
    """The rewritings of a text in the order of their variants."""
    rows = [row for row in rewritten.to_pylist() if row["text_id"] == name]
    return [row["text"] for row in sorted(rows, key=lambda row: row.get("variant", 0))]


def test_lower_case_by_unicodes_rules():
    rewritten = lowercase.rewrite(TEXTS_, ASIDE, seed=1)
    assert rewritten["text"].to_pylist() == [
        "one two\nthree  four five six seven eight nine ten",
        "été",
        "a b",
    ]
    # Token ids are of the text that was.
    assert rewritten.column_names == ["text_id", "text", "label", "group"]
    assert rewritten["label"].to_pylist() == [1, 0, 1]


def test_swaps_exchange_words_and_nothing_else():
    rewritten = swaps.rewrite(TEXTS_, ASIDE, seed=1, n=4, alpha=0.3)
    TEXTS.check(rewritten)
    assert Counter(rewritten["text_id"].to_pylist()) == {"t0": 4, "t2": 4}  # "ÉTÉ" has one word
    assert rewritten["variant"].to_pylist() == [1, 2, 3, 4] * 2
    assert rewritten["group"].to_pylist() == ["g t0"] * 4 + ["g t2"] * 4
    for copy in strings(rewritten, "t0"):
        assert sorted(copy.split()) == sorted(TEXT[0].split())
        moved = sum(a != b for a, b in zip(copy.split(), TEXT[0].split(), strict=True))
        assert 2 <= moved <= 6  # floor(0.3 * 10) = 3 pairs, each of two places
        assert [len(w) == 0 for w in copy.split(" ")].count(True) == 1  # white space stays
    assert strings(rewritten, "t2") == ["b a"] * 4  # at least one pair


def test_swaps_of_a_text_do_not_depend_on_the_others():
    once = swaps.rewrite(TEXTS_, ASIDE, seed=1, n=4, alpha=0.3)
    again = swaps.rewrite(TEXTS_.take([2, 0]), ASIDE, seed=1, n=4, alpha=0.3)
    other = swaps.rewrite(TEXTS_, ASIDE, seed=2, n=4, alpha=0.3)
    assert strings(again, "t0") == strings(once, "t0") != strings(other, "t0")
    assert len(set(strings(once, "t0"))) > 1


def test_a_share_counts_as_it_was_written():
    # 0.29 * 100 is 28.999999999999996 in floating point.
    assert [part(0.29, 100), part(0.05, 19), part(0.05, 40), part(1, 7)] == [29, 1, 2, 7]
    with pytest.raises(UserError, match="above 0 and is at most 1"):
        part(1.5, 10)


def test_shots_are_rows_aside_of_one_label_the_same_for_all():
    rewritten = shots.rewrite(TEXTS_, ASIDE, seed=1, shots=4, label=1)
    TEXTS.check(rewritten)
    prefixes = rewritten["prefix"].to_pylist()
    assert prefixes[0] == prefixes[1] == prefixes[2]
    assert len(set(prefixes[0])) == 4
    assert set(prefixes[0]) <= set(ASIDE["text"].to_pylist()[:9])
    # The texts are read as they were, ids included.
    assert rewritten.drop_columns(["prefix"]) == TEXTS_
    assert shots.rewrite(TEXTS_, ASIDE, seed=1, shots=4, label=1) == rewritten
    assert shots.rewrite(TEXTS_, ASIDE, seed=2, shots=4, label=1) != rewritten


@pytest.mark.parametrize(
    ("words", "expected"), [(1, "lone"), (2, "lone stranger"), (9, "lone stranger")]
)
def test_shots_may_be_cut_to_their_first_words(words, expected):
    rewritten = shots.rewrite(TEXTS_, ASIDE, seed=1, shots=1, label=0, words=words)
    assert rewritten["prefix"][0].as_py() == [expected]


def test_shots_need_as_many_rows_aside():
    with pytest.raises(
        UserError, match="2 non-members wants as many rows aside with label 0.* has 1;"
    ):
        shots.rewrite(TEXTS_, ASIDE, seed=1, shots=2, label=0)


def write(path, rows: list[dict]):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return str(path)


def test_given_rewritings_by_name(tmp_path):
    rows = [("t2", "b c"), ("t0", "1 2"), ("t2", "a c"), ("aside1", "not evaluated")]
    path = write(tmp_path / "n.jsonl", [{"text_id": name, "text": text} for name, text in rows])
    rewritten = given.rewrite(TEXTS_, ASIDE, seed=1, path=path)
    assert rewritten["text_id"].to_pylist() == ["t0", "t2", "t2"]
    assert rewritten["text"].to_pylist() == ["1 2", "b c", "a c"]
    assert rewritten["variant"].to_pylist() == [1, 1, 2]
    assert rewritten["label"].to_pylist() == [1, 1, 1]


def test_given_rewritings_in_a_column_of_the_datasets_own_file(tmp_path):
    rows = [{"snippet": text, "label": 1, "paraphrase": text[::-1]} for text in TEXT]
    path = write(tmp_path / "own.jsonl", rows)
    columns = {"text": "paraphrase", "original": "snippet"}
    rewritten = given.rewrite(TEXTS_, ASIDE, seed=1, path=path, columns=columns)
    assert rewritten["text"].to_pylist() == [text[::-1] for text in TEXT]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text_id": "t9", "text": "x"}, "n.jsonl, line 1, column 'text_id': .* no text 't9'"),
        ({"text_id": "t0", "text": " "}, "n.jsonl, line 1, column 'text': there is no text"),
        ({"text": "x"}, "neither a column 'text_id' nor 'original'"),
    ],
)
def test_a_mistake_in_a_given_file_is_one_clear_line(tmp_path, row, message):
    path = write(tmp_path / "n.jsonl", [row])
    with pytest.raises(UserError, match=message):
        given.rewrite(TEXTS_, ASIDE, seed=1, path=path)


def test_what_was_not_rewritten_is_counted():
    rewritten = table(["ONE", "b a"], [1, 1]).append_column("variant", pa.array([1, 1], pa.int32()))
    originals = table(["ONE", "a b", "c"], [1, 1, 0])
    assert counts(originals, rewritten) == {"unchanged": 1, "without": 1}


@pytest.fixture
def files(tmp_path):
    TEXTS.write(tmp_path / "texts.parquet", TEXTS_, {"tokenizer": "abc"})
    TEXTS.write(tmp_path / "aside.parquet", ASIDE, {})
    return tmp_path


def make(files, view: str, maker: str, settings: dict) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "scripts.view", "--texts", str(files / "texts.parquet")]
    command += [
        "--aside",
        str(files / "aside.parquet"),
        "--rewritten",
        str(files / f"{view}.parquet"),
    ]
    given = {"dataset": "d", "view": view, "maker": maker, "settings": settings, "seed": 1}
    command += ["--settings", json.dumps(given)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_the_step_writes_the_same_bytes_twice(files):
    assert make(files, "few", "swaps", {"n": 2, "alpha": 0.3}).returncode == 0
    first = (files / "few.parquet").read_bytes()
    assert make(files, "few", "swaps", {"n": 2, "alpha": 0.3}).returncode == 0
    assert (files / "few.parquet").read_bytes() == first
    footer = provenance(files / "few.parquet")
    assert (footer["view"], footer["without"]) == ("few", 1)
    assert "tokenizer" not in footer  # new texts are tokenised anew


def test_ids_that_are_kept_keep_their_tokenizer(files):
    assert make(files, "members", "shots", {"shots": 2, "label": 1}).returncode == 0
    assert provenance(files / "members.parquet")["tokenizer"] == "abc"
    assert TEXTS.read(files / "members.parquet")["token_ids"] == TEXTS_["token_ids"]


@pytest.mark.parametrize(
    ("maker", "settings", "message"),
    [
        (
            "swaps",
            {"n": 2},
            "config/views.yaml: v.settings: missing .*'alpha'; its settings: n, alpha",
        ),
        ("lowercase", {"n": 2}, "unexpected .*'n'; its settings: none"),
        ("shots", {"shots": 3, "label": 0}, "view v of d: a prefix of 3 non-members .* has 1;"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(files, maker, settings, message):
    done = make(files, "v", maker, settings)
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert re.search(message, line)


def test_a_view_can_be_a_dataset(files):
    assert make(files, "low", "lowercase", {}).returncode == 0
    inputs = [files / "low.parquet", files / "aside.parquet"]
    loaded = view_source.load(inputs, {"dataset": "d2"})
    assert loaded.texts["text"].to_pylist()[1] == "été"
    assert loaded.texts["text_id"].to_pylist() == ["t0", "t1", "t2"]
    assert loaded.aside == ASIDE
    assert loaded.provenance["view"]["view"] == "low"


@pytest.mark.parametrize(
    ("maker", "settings", "message"),
    [
        ("swaps", {"n": 2, "alpha": 0.3}, "dataset d2: the view v has 4 texts and none for 1 orig"),
        ("shots", {"shots": 1, "label": 0}, "the view v are not rewritten"),
    ],
)
def test_other_views_cannot_be_datasets(files, maker, settings, message):
    assert make(files, "v", maker, settings).returncode == 0
    with pytest.raises(UserError, match=message):
        view_source.load([files / "v.parquet", files / "aside.parquet"], {"dataset": "d2"})


def registry_with(entry: dict):
    """The project's registry with a dataset that a study brings along."""
    registry = load_registry(ROOT, {})
    registry.add_datasets({"new": entry}, "study.yaml", "s.")
    return registry


def test_a_dataset_may_be_a_view_of_another():
    registry = registry_with({"source": "view", "dataset": "lab-pool", "view": "synonyms"})
    assert registry.datasets["s.new"]["dataset"] == "lab-pool"
    assert registry.pool("s.new") == "s.new"  # passes, tags and scores of its own


@pytest.mark.parametrize(
    ("dataset", "view", "message"),
    [
        ("lab-pool", "synonym", "new.view: no view 'synonym' that rewrites texts.*'synonyms'"),
        ("lab-pool", "vocabulary", "new.view: no view 'vocabulary' that rewrites texts"),
        ("lab-poool", "synonyms", "new.dataset: no dataset '.*lab-poool'.*lab-pool"),
        ("lab-checkpoint", "synonyms", "'lab-checkpoint' is a part or a view of another"),
        ("new", "synonyms", "'s.new' is a part or a view of another"),
    ],
)
def test_a_mistake_in_such_an_entry_is_one_clear_line(dataset, view, message):
    with pytest.raises(UserError, match=message):
        registry_with({"source": "view", "dataset": dataset, "view": view})
