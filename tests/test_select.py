"""Selections of a pool: conditions, labels, the rows aside, and what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.select import matches, refuse_empty, select

ROOT = Path(__file__).parents[1]


def pool() -> pa.Table:
    fields = {field.name: field for schema in (TEXTS.required, TEXTS.optional) for field in schema}
    columns = {
        "text_id": list("abcdef"),
        "text": list("ABCDEF"),
        "label": [None, 1, 0, None, 1, 0],
        "group": list("ggghhh"),
        "domain": ["old", "old", "new", "new", None, "old"],
        "date": ["1800", "1900-05-01", "1999-12-31", "2000-01-01", "2020", None],
        "step": [0, 149, 150, None, 300, 599],
        "exposures": [1, 1, 2, 0, 0, 8],
        "token_ids": [[1], [2], [3], [4], [5], [6]],
    }
    return pa.table(columns, pa.schema([fields[name] for name in columns]))


# Expected rows are read off the table above.
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, "abcdef"),
        ({"exposures": 1}, "ab"),
        ({"exposures": [1, 8]}, "abf"),
        ({"exposures": []}, ""),
        ({"step": {"from": 149, "below": 300}}, "bc"),
        ({"step": {"from": 300}}, "ef"),
        ({"step": {"below": 150}}, "ab"),
        ({"step": {"from": 0, "below": 150}, "domain": "old", "exposures": 1}, "ab"),
        ({"domain": ["new", "other"]}, "cd"),
        ({"date": {"below": "2000-01-01"}}, "abc"),
        ({"label": 0}, "cf"),
        ({"domain": {"not": "old"}}, "cd"),
        ({"exposures": {"not": [0, 1]}}, "cf"),
    ],
)
def test_matches(conditions: dict, expected: str) -> None:
    kept = matches(pool(), conditions, "dataset x: where")
    assert "".join(pool().filter(pa.array(kept))["text_id"].to_pylist()) == expected


def test_members_and_nonmembers_set_labels_and_keep_order() -> None:
    conditions = {"members": {"exposures": [1, 8]}, "nonmembers": {"exposures": 0}}
    selected = select(pool(), conditions, "dataset x")
    TEXTS.check(selected)
    assert selected["text_id"].to_pylist() == list("abdef")
    assert selected["label"].to_pylist() == [1, 1, 0, 0, 1]
    assert selected["token_ids"].to_pylist() == [[1], [2], [4], [5], [6]]


def test_where_keeps_labels() -> None:
    selected = select(pool(), {"where": {"domain": "old"}}, "dataset x")
    assert selected["label"].to_pylist() == [None, 1, 0]


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"members": {}, "nonmembers": {"exposures": 0}}, "2 texts match members and nonmembers (fir"),
        ({"members": {"exposures": 1}}, "give 'members' and 'nonmembers', or 'where' alone"),
        ({"members": {}, "nonmembers": {}, "where": {}}, "give 'members' and 'nonmembers', or"),
        ({}, "it has none of them"),
        ({"where": {"exposure": 1}}, "where: the pool has no column 'exposure'; did you mean 'exposures'?"),
        ({"where": {"exposures": "once"}}, 'where.exposures: "once" does not fit int32'),
        ({"where": {"date": 1945}}, "where.date: 1945 does not fit strings: put the value in quotes"),
        ({"where": {"date": {"below": 1945}}}, "does not fit strings: put the value in quotes"),
        ({"where": {"step": {"from": 1, "to": 2}}}, "where.step: a range has the keys 'from' and"),
        ({"where": {"step": {}}}, "where.step: a range has the keys 'from' and 'below'"),
        ({"where": {"token_ids": 1}}, "where.token_ids: 1 does not fit list"),
    ],
)  # fmt: skip
def test_refused(conditions: dict, message: str) -> None:
    with pytest.raises(UserError) as caught:
        select(pool(), conditions, "dataset x")
    assert message in str(caught.value)
    assert str(caught.value).startswith("dataset x: ")


def test_what_is_left_out_must_be_there() -> None:
    conditions = {"where": {"domain": {"not": ["old", "odl"]}}}
    selected = select(pool(), conditions, "dataset x")
    with pytest.raises(
        UserError, match=r'x: where\.domain\.not: no text has "odl"; mend or remove'
    ):
        refuse_empty(selected, pool(), conditions, "dataset x")


def test_nothing_matches_says_what_the_column_holds() -> None:
    conditions = {"members": {"exposures": 3}, "nonmembers": {"exposures": 0}}
    selected = select(pool(), conditions, "dataset x")
    with pytest.raises(UserError) as caught:
        refuse_empty(selected, pool(), conditions, "dataset x")
    assert str(caught.value) == (
        'dataset x: no text of the pool matches members {"exposures": 3}; '
        "exposures holds 0, 1, 2, 8"
    )


def run_step(folder: Path, **settings) -> subprocess.CompletedProcess:
    files = {"dataset": "pool", "source": "lab", "order": "lab"}
    TEXTS.write(folder / "pool.parquet", pool(), files)
    TEXTS.write(folder / "aside.parquet", pool().slice(0, 4), files)
    names = ["--texts", "pool", "--aside", "aside", "--selected", "s", "--selected-aside", "sa"]
    return subprocess.run(
        [
            *[sys.executable, "-m", "scripts.select"],
            *[n if n.startswith("--") else str(folder / f"{n}.parquet") for n in names],
            *["--settings", json.dumps({"dataset": "mine", **settings})],
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def test_step_with_other_conditions_aside(tmp_path: Path) -> None:
    done = run_step(
        tmp_path,
        members={"exposures": 8},
        nonmembers={"exposures": 0},
        aside={"members": {"exposures": 1}, "nonmembers": {"exposures": 0}},
    )
    assert done.returncode == 0, done.stderr
    selected, aside = (TEXTS.read(tmp_path / f"{name}.parquet") for name in ("s", "sa"))
    assert selected["text_id"].to_pylist() == list("def")
    assert aside["text_id"].to_pylist() == list("abd")
    assert aside["label"].to_pylist() == [1, 1, 0]
    footer = provenance(tmp_path / "s.parquet")
    assert (footer["dataset"], footer["of"], footer["order"]) == ("mine", "pool", "lab")


def test_step_where_the_rows_aside_match_nothing(tmp_path: Path) -> None:
    """The members' own conditions may leave no row aside; conditions written for them may not."""
    conditions = {"members": {"exposures": 8}, "nonmembers": {"step": 300}}
    assert run_step(tmp_path, **conditions).returncode == 0
    assert TEXTS.read(tmp_path / "sa.parquet").num_rows == 0
    done = run_step(tmp_path, **conditions, aside={"where": {"exposures": 8}})
    assert done.returncode == 1
    assert "dataset mine: aside: no text of the pool matches where" in done.stderr
