import csv
import io
import json
import re
import sys
from xml.etree import ElementTree

import pytest

from scripts.errors import UserError
from scripts.publish import formats, table
from scripts.publish.families import adjusted
from scripts.publish.rows import parameters, read_metrics
from scripts.publish.sheet import Cell, Column, Line, Sheet
from scripts.publish.tables import attacks, blind
from scripts.publish.titles import Titles, difference, listed
from tests.publish_rows import counted, gate, metric, write_gates, write_metrics

SETTINGS = {
    "name": "table_2",
    "kind": "attacks",
    "title": "Attacks",
    "titles": {"attacks": {"loss": "Loss", "min_k": "Min-K%"}, "datasets": {"d": "Clean"}},
}


def build(rows, gates=(), **settings):
    return attacks.build([counted(row) for row in rows], list(gates), {**SETTINGS, **settings})


def cell(sheet, row, column):
    titles = [column.title for column in sheet.columns]
    return sheet.lines[row].cells[titles.index(column)]


# By hand: 0.01 * 4, 0.02 * 3, then max(0.06, 0.03 * 2), then 0.5 * 1.
FOUR = {"loss": 0.02, "a(k=1)": 0.01, "a(k=2)": 0.5, "a(k=3)": 0.03}
HOLM = {"loss": 0.06, "a(k=1)": 0.04, "a(k=2)": 0.5, "a(k=3)": 0.06}


def four():
    return [metric(name, p=p) for name, p in FOUR.items()]


def test_holm_holds_within_a_model_and_a_dataset():
    rows = adjusted([*four(), metric("loss", model="other", p=0.04)])
    assert {row["setting"]: row["auc_p_holm"] for row in rows[:4]} == pytest.approx(HOLM)
    assert [row["auc_verdict"] for row in rows] == ["", "above", "", "", "above"]
    assert [row["tried"] for row in rows] == [4, 4, 4, 4, 1]


def test_the_family_is_all_settings_computed_though_few_are_shown():
    sheet = build(four(), settings=["a(k=1)", "loss"])
    assert [row["setting"] for row in sheet.data] == ["a(k=1)", "loss"]
    assert [row["auc_p_holm"] for row in sheet.data] == pytest.approx([0.04, 0.06])
    assert "4 settings were tried on each model and dataset; 2 are shown." in sheet.notes[0]


def test_an_attack_left_out_by_the_order_still_counts():
    sheet = build(four(), order={"attacks": ["loss"]})
    assert [row["auc_p_holm"] for row in sheet.data] == pytest.approx([0.06])


def test_the_largest_is_not_marked_unless_significant():
    largest = metric("a(k=1)", auc=0.9, p=0.04)
    sheet = build([largest, metric("a(k=2)", auc=0.6, p=0.02), metric("a(k=3)", auc=0.4, p=1e-5)])
    found = [cell(sheet, row, "AUC") for row in range(3)]
    # Holm by hand: 3e-5, 0.04, 0.04: all are significant; the third one below 0.5.
    assert [c.text for c in found] == ["0.900 ↑", "0.600 ↑", "0.400 ↓"]
    assert [c.strong for c in found] == [True, True, False]
    sheet = build([largest, metric("a(k=2)", auc=0.6, p=0.03)])  # 0.06 and 0.06
    assert [cell(sheet, row, "AUC") for row in range(2)] == [Cell("0.900"), Cell("0.600")]


def test_differences_are_a_family_of_their_own_without_loss_itself():
    rows = [metric("loss"), *(metric(f"a(k={k})", over_loss_p=p) for k, p in ((1, 0.02), (2, 0.9)))]
    rows[1] |= {"over_loss": -0.03}
    found = adjusted(rows)
    # Two tests, not three: 0.02 * 2.
    assert [row["over_loss_p_holm"] for row in found] == [None, pytest.approx(0.04), 0.9]
    sheet = build(rows)
    assert cell(sheet, 0, "Over Loss") == Cell()
    assert cell(sheet, 1, "Over Loss") == Cell("−0.030 (0.005) ↓")


@pytest.mark.parametrize(
    ("nonmembers", "expected"),
    [
        (499, Cell()),  # 4.99 false positives
        (600, Cell("0.020", "[0.010, 0.030]", grey=True)),  # 6
        (1000, Cell("0.020")),  # 10
    ],
)
def test_rates_that_few_nonmembers_decide(nonmembers, expected):
    sheet = build([metric(nonmembers=nonmembers)])
    assert cell(sheet, 0, "TPR at 1 %") == expected
    assert cell(sheet, 0, "TPR at 5 %") == Cell("0.080")
    assert (sheet.data[0]["tpr_at_0.01"] is None) == (expected == Cell())
    assert (sheet.data[0]["fpr_at_0.01"] is None) == (expected == Cell())


def test_a_shifted_dataset_carries_the_remark():
    rows = [metric(p=1e-9), metric(dataset="dated", p=1e-9, auc=0.9)]
    gates = [gate(), gate("tfidf", dataset="dated", auc=0.97, p_permutation=1e-4, shift=True)]
    sheet = build(rows, gates, titles={"baselines": {"tfidf": "TF-IDF"}}, notes={"dated": "Note."})
    assert [cell(sheet, row, "Dataset").text for row in range(2)] == ["d", "dated ‡"]
    assert [line.shaded for line in sheet.lines] == [False, True]
    assert [row["shift"] for row in sheet.data] == [False, True]
    assert not cell(sheet, 1, "AUC").strong
    [note] = [note for note in sheet.notes if note.startswith("dated:")]
    assert "measures a shift" in note
    assert "TF-IDF tells its classes apart (AUC 0.970 [0.940, 1.000], p < 0.001)" in note
    assert note.endswith("Note.")


def test_what_all_rows_share_is_said_once():
    sheet = build([metric(), metric("min_k(ratio=0.2,window=6)")])
    assert sheet.about == "Model: m. Dataset: Clean."
    assert [line.cells[0].text for line in sheet.lines] == ["Loss", "Min-K% (ratio=0.2, window=6)"]
    sheet = build([metric(), metric("min_k(ratio=0.2)"), metric(model="n")])
    assert [[c.text for c in sheet.cells(i)][:2] for i in range(3)] == [
        ["m", "Loss"],
        ["", "Min-K% (ratio=0.2)"],
        ["n", "Loss"],
    ]
    assert [sheet.starts(i) for i in range(3)] == [True, False, True]


def test_texts_scored_by_exception_are_counted():
    rows = [metric("a(k=1)", unscored=3), metric("a(k=1)", model="n", unscored=5), metric("loss")]
    rows = [{**counted(row), "truncated": 7 * (row["model"] == "n")} for row in rows]
    rows[0]["fallback"] = rows[1]["fallback"] = 1200
    notes = " ".join(attacks.build(rows, [], SETTINGS).notes)
    assert "rank below all others: 3 to 5 for a (k=1)." in notes
    assert "exceptions: 1,200 for a (k=1)." in notes
    assert "context: 7 for n." in notes


def test_counts_come_from_the_footer(tmp_path):
    scores = {"fallback": {"a(k=1)": 2}, "tokens": {"truncated": 9}}
    paths = write_metrics(tmp_path, [metric("a(k=1)"), metric("a(k=2)")], scores=scores)
    assert [(r["fallback"], r["truncated"]) for r in read_metrics(paths)] == [(2, 9), (0, 9)]


def test_an_unknown_setting_is_one_clear_line():
    with pytest.raises(
        UserError, match=r"table table_2: settings: no setting 'a\(k=9\)'; the near"
    ):
        build(four(), settings=["a(k=9)"])


def test_groups_are_counted_where_there_are_any():
    row = metric(grouping="crossed", member_groups=12, nonmember_groups=34)
    assert (
        "Clean: 1,000 members in 12 groups and 1,000 non-members in 34 groups."
        in build([row], [gate()]).notes
    )


def test_blind_baselines_by_their_chosen_classifier():
    rows = [
        gate("bow", "logistic_regression", chosen=False, best=False),
        gate("bow", "random_forest", best=False, auc=0.6),
        gate("tfidf", "logistic_regression", shift=True, p_permutation=0.0125),
    ]
    settings = {"name": "table_1", "title": "Blind", "titles": {"baselines": {"bow": "BoW"}}}
    sheet = blind.build([], rows, settings)
    assert [c.text for c in sheet.lines[0].cells] == [
        "BoW",
        "0.600",
        "[0.570, 0.630]",
        "0.0125",
        "0.020",
        "random forest",
        "0.500",
        "0.400",
        "0.532",
        "",
    ]
    assert cell(sheet, 1, "Gate") == Cell("shift", strong=True)
    assert cell(sheet, 1, "p").text == "0.013"
    assert sheet.about == "Dataset: d."
    assert "inner" in sheet.notes[0]
    rows = [{**row, "selection": "test"} for row in rows]
    assert "optimistic" in blind.build([], rows, settings).notes[0]


SHEET = Sheet(
    name="t",
    title="50 % & more_of {it}",
    about="Model: a~b.",
    columns=[Column("Model", number=False), Column("A|B"), Column("p")],
    lines=[
        Line([Cell("x_1"), Cell("0.500", "[0.4, 0.6]", grey=True), Cell("<0.001")]),
        Line([Cell("x_1"), Cell("0.600 ↑", strong=True), Cell()], shaded=True),
        Line([Cell("y"), Cell("−0.1"), Cell("1")]),
    ],
    notes=["At x ≤ 5 %: “none”."],
    data=[{"a": 0.1234567890123456, "b": None}, {"a": 1e-300, "b": True}],
    leading=1,
)


def test_csv_is_tidy_and_in_full_precision():
    rows = list(csv.DictReader(io.StringIO(formats.to_csv(SHEET))))
    assert [float(row["a"]) for row in rows] == [0.1234567890123456, 1e-300]
    assert [row["b"] for row in rows] == ["", "True"]


def test_markdown_is_aligned():
    text = formats.to_markdown(SHEET)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split(" | ")[1].strip() == r"A\|B"
    assert lines[3].startswith("|       |      **0.600 ↑** |")


def test_latex_is_balanced():
    text = formats.to_tex(SHEET)
    body = text.partition("\n")[2]  # the first line is a comment
    unescaped = re.sub(r"\\[&%$#_{}\\]", "", body)
    assert unescaped.count("{") == unescaped.count("}")
    assert unescaped.count("$") % 2 == 0
    assert "%" not in unescaped and "_" not in unescaped
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    ended = re.findall(r"\\end\{(\w+)\}", text)
    assert sorted(begun) == sorted(ended) == ["minipage", "table", "tabular"]
    rows = [line for line in unescaped.splitlines() if "&" in line]
    assert [row.count("&") for row in rows] == [2] * 4  # three columns
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert text.count(rule) == 1
    assert r"\caption{50 \% \& more\_of \{it\}. Model: a\textasciitilde{}b.}" in text
    assert r"\textcolor{gray}{0.500 [0.4, 0.6]} & $<$0.001 \\" in text
    assert r"\textbf{0.600 $\uparrow$}" in text
    assert text.isascii()


def test_html_is_well_formed():
    root = ElementTree.fromstring(formats.to_html(SHEET))
    rows = root.findall("./table/tbody/tr")
    assert [len(row) for row in rows] == [3, 3, 3]
    assert [row.get("class") for row in rows] == ["first", "shaded", "first"]
    assert "".join(rows[0][1].itertext()) == "0.500 [0.4, 0.6]"
    assert rows[0][1].get("class") == "number grey"
    assert rows[1][1].find("strong").text == "0.600 ↑"


def run_step(monkeypatch, folder, metrics, gates, settings):
    outputs = {kind: folder / f"table.{kind}" for kind in ("csv", "tex", "md", "html")}
    words = ["table", "--metrics", *metrics, "--gates", *gates, "--settings", json.dumps(settings)]
    for kind, path in outputs.items():
        words += [f"--{kind}", path]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    table.main()
    return {kind: path.read_bytes() for kind, path in outputs.items()}


def test_the_step_writes_the_same_bytes_whatever_the_order_of_files(tmp_path, monkeypatch):
    rows = [
        metric(name, model=model, dataset=dataset)
        for model in "nm"
        for dataset in "ed"
        for name in ("min_k(ratio=0.1)", "loss")
    ]
    metrics = write_metrics(tmp_path, rows)
    gates = write_gates(tmp_path, [gate(), gate(dataset="e")])
    order = {"models": ["m", "n"], "datasets": ["d", "e"], "attacks": ["loss", "min_k"]}
    settings = {**SETTINGS, "order": order}
    first = run_step(monkeypatch, tmp_path / "1", metrics, gates, settings)
    second = run_step(monkeypatch, tmp_path / "2", metrics[::-1], gates[::-1], settings)
    assert first == second
    rows = list(csv.DictReader(io.StringIO(first["csv"].decode())))
    assert [(row["model"], row["dataset"], row["attack"]) for row in rows[:4]] == [
        ("m", "d", "loss"),
        ("m", "d", "min_k"),
        ("m", "e", "loss"),
        ("m", "e", "min_k"),
    ]


def test_an_unknown_kind_is_one_clear_line(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="table table_2: no kind 'atacks'"):
        run_step(monkeypatch, tmp_path, [], [], {**SETTINGS, "kind": "atacks"})


def test_parameters_of_a_setting():
    assert parameters("gap_k(window=6,ratio=0.2)") == {"window": 6, "ratio": 0.2}
    assert parameters("a(reading=paper)") == {"reading": "paper"}
    assert parameters("loss") == {}


def test_words():
    assert difference(-0.0001) == "+0.000"
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b and c"
    assert Titles({}).setting({"attack": "x", "setting": "x()"}) == "x"
