import json
import math
import sys

import pytest

from scripts.errors import UserError
from scripts.publish import sanity
from tests.publish_rows import counted, gate, metric, write_gates, write_metrics

ROWS = [
    counted(metric("loss", z=3.0, auc=0.52)),
    counted(metric("a(k=1)", z=-4.5, auc=0.44)),
    counted(metric("loss", model="m-step600", z=1.0, auc=0.60)),
    counted(metric("loss", model="m-step600", dataset="e", z=1.0, auc=0.70)),
    counted(metric("loss", model="m-step600", dataset="f", z=1.0, auc=0.70)),
]
GATES = [
    gate(best=False, p_permutation=0.0001),
    gate("tfidf", p_permutation=0.3),
]


def judge(**check):
    return sanity.judge([{"check": "c", **check}], ROWS, GATES)


def test_a_range_over_all_rows_reports_the_worst():
    [found] = judge(rows={"model": "m"}, value="z", within=[-4, 4])
    assert found == {
        "check": "c",
        "value": -4.5,
        "bound": [-4, 4],
        "ok": False,
        "detail": "worst of 2: m, d, a(k=1)",
    }
    [found] = judge(rows={"model": "m"}, value="z", within=[-4.5, 4])
    assert found["ok"] and found["value"] == -4.5


def test_patterns_and_lists():
    [found] = judge(rows={"model": "*-step600", "setting": "loss"}, value="auc", within=[0.6, 0.7])
    assert found["ok"] and found["detail"].startswith("worst of 3")
    [found] = judge(rows={"setting": ["loss", "a(k=1)"]}, value="auc", above=0.44)
    assert not found["ok"] and found["value"] == 0.44  # strictly


@pytest.mark.parametrize(
    "rows",
    [{"model": "missing"}, {"model": ["m", "missing"]}, {"model": "x*"}, {"no_such_column": "m"}],
)
def test_a_filter_that_matches_nothing_is_a_failure(rows):
    [found] = judge(rows=rows, value="auc", within=[0, 1])
    assert not found["ok"] and found["value"] is None
    assert found["detail"].startswith("nothing has")
    assert not judge(rows={"setting": "loss"}, value="auc", rises_along=["d", "missing"])[0]["ok"]
    [found] = judge(rows={"model": "m"}, value="auc", near={"dataset": "missing"}, by=1)
    assert not found["ok"]


def test_no_rows_at_all_is_a_failure():
    [found] = sanity.judge([{"check": "c", "rows": {}, "value": "auc", "within": [0, 1]}], [], [])
    assert not found["ok"]


def test_gates():
    [found] = judge(gates={"dataset": "d", "best": True}, value="p_permutation", above=0.001)
    assert found["ok"] and found["bound"] == "> 0.001"
    assert not judge(gates={"dataset": "d"}, value="p_permutation", above=0.001)[0]["ok"]


def test_rising_is_strict_and_for_each_model_and_setting():
    found = judge(rows={"model": "m-step600"}, value="auc", rises_along=["d", "e"])
    assert [(f["ok"], f["value"], f["bound"]) for f in found] == [(True, [0.6, 0.7], "rises")]
    found = judge(rows={"model": "m-step600"}, value="auc", rises_along=["d", "e", "f"])
    assert [f["ok"] for f in found] == [False]  # 0.70 and 0.70
    found = judge(rows={"setting": "loss"}, value="auc", rises_along=["d", "e"])
    assert [(f["ok"], f["value"]) for f in found] == [(False, [0.52, None]), (True, [0.6, 0.7])]


def test_near():
    one = {"model": "m-step600", "dataset": "d"}
    [found] = judge(rows=one, value="auc", near={"dataset": "e"}, by=0.05)
    assert not found["ok"] and found["value"] == pytest.approx(0.1) and found["bound"] == "<= 0.05"
    assert judge(rows=one, value="auc", near={"dataset": "e"}, by=0.11)[0]["ok"]


def test_infinite_and_missing_values_fail():
    rows = [counted(metric(z=math.inf)), counted(metric("a", z=0.0))]
    check = {"check": "c", "rows": {}, "value": "z", "within": [-4, 4]}
    [found] = sanity.judge([check], rows, [])
    assert not found["ok"] and found["value"] == "inf"
    [found] = sanity.judge([{**check, "value": "over_loss"}], rows, [])
    assert not found["ok"] and found["detail"] == "no value: m, d, loss"


@pytest.mark.parametrize(
    "check",
    [
        {"rows": {}, "value": "auc"},
        {"rows": {}, "gates": {}, "value": "auc", "above": 0},
        {"rows": {}, "value": "auc", "above": 0, "within": [0, 1]},
        {"rows": {}, "value": "acu", "above": 0},
    ],
)
def test_a_malformed_check_is_the_users_mistake(check):
    with pytest.raises(UserError, match=r"checks\[0\]: "):
        judge(**check)


def test_the_step_writes_a_list_and_does_not_fail(tmp_path, monkeypatch):
    metrics = write_metrics(tmp_path, [metric(z=math.inf)])
    gates = write_gates(tmp_path, [gate()])
    checks = [
        {"check": "bad", "rows": {}, "value": "z", "within": [-4, 4]},
        {"check": "good", "gates": {"best": True}, "value": "auc", "above": 0.5},
    ]
    out = tmp_path / "sanity.json"
    words = ["sanity", "--metrics", *metrics, "--gates", *gates, "--sanity", out]
    words += ["--settings", json.dumps({"checks": checks})]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    sanity.main()

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    found = json.loads(out.read_text(), parse_constant=refuse)
    assert [(f["check"], f["ok"]) for f in found] == [("bad", False), ("good", True)]
    assert all({"check", "value", "bound", "ok"} <= set(f) for f in found)
