"""Tables and figures of what scores decide, and what tables of attacks say of ensembles and gates."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from scripts.contracts.calibration import CALIBRATION
from scripts.contracts.comparison import COMPARISON
from scripts.contracts.inference import INFERENCE
from scripts.contracts.metrics import METRICS
from scripts.contracts.transfer import TRANSFER
from scripts.publish import figure as figure_step
from scripts.publish.families import adjusted
from scripts.publish.figures import transfer as transfer_figure
from scripts.publish.findings import headlines
from scripts.publish.results import Results
from scripts.publish.rows import read_metrics
from scripts.publish.tables import attacks, calibration, comparison, groups, inference, transfer
from scripts.publish.titles import Titles
from tests.publish_rows import counted, gate, metric, write_metrics

SETTINGS = {
    "name": "t",
    "title": "T",
    "titles": {"datasets": {"d": "Clean"}, "attacks": {"a": "A%", "loss": "Loss"}},
    "order": {"models": ["m"], "datasets": ["d"], "attacks": ["loss", "a", "s.e"]},
}


def ensemble(**values):
    row = metric("s.e", over_loss_p=None, over_blind_p=None, **values)
    return {**counted(row), "learned_on": "out-of-fold"}


def cell(sheet, line, title):
    return sheet.lines[line].cells[[column.title for column in sheet.columns].index(title)]


def test_ensembles_are_a_family_of_their_own_and_marked():
    rows = [counted(metric(f"a(k={k})", p=0.02)) for k in (1, 2, 3)]
    rows += [ensemble(p=0.02), {**ensemble(p=0.03), "setting": "s.f", "attack": "s.f"}]
    found = {row["setting"]: row for row in adjusted(rows)}
    assert found["a(k=1)"]["auc_p_holm"] == pytest.approx(0.06) and found["a(k=1)"]["tried"] == 3
    assert found["s.e"]["auc_p_holm"] == pytest.approx(0.04) and found["s.e"]["tried"] == 2
    assert found["s.e"]["auc_verdict"] == "above" and found["s.e"]["over_loss_verdict"] == ""
    sheet = attacks.build(rows, [gate()], SETTINGS)
    [line] = [line for line in sheet.lines if line.cells[0].text == "s.e †"]
    assert line.cells[1].strong
    assert "3 settings were tried" in sheet.notes[0] and "3 are shown" in sheet.notes[0]
    [note] = [note for note in sheet.notes if note.startswith("†")]
    assert "needs labelled texts of the same source" in note and "one-sided" in note
    assert cell(sheet, 3, "Over Loss").text == "+0.010"  # no standard error, no mark


def test_the_footer_says_what_learned(tmp_path):
    scores = {"learned_on": "out-of-fold"}
    paths = write_metrics(tmp_path, [metric("s.e")], scores=scores)
    paths += write_metrics(tmp_path, [metric("loss")])
    assert [row["learned_on"] for row in read_metrics(paths)] == ["out-of-fold", ""]


def test_findings_do_not_count_ensembles():
    rows = [counted(metric(p=0.9, over_blind_p=0.9)), ensemble(p=0.001)]
    [first, *_] = headlines(rows, [gate()], Titles({}))
    assert "0 of 1 pairs" in first


def test_a_table_of_attacks_says_that_there_is_no_gate():
    sheet = attacks.build([counted(metric())], [], SETTINGS)
    [note] = [note for note in sheet.notes if note.startswith("Clean:")]
    assert "No blind baseline judged it" in note
    assert sheet.data[0]["shift"] is None
    sheet = attacks.build([counted(metric())], [gate()], SETTINGS)
    assert not any("No blind baseline" in note for note in sheet.notes)
    assert sheet.data[0]["shift"] is False


def test_a_figure_says_that_there_is_no_gate():
    for gates, expected in ([], "No blind baseline judged Clean."), ([gate()], None):
        figure = figure_step.Figure()
        figure_step.note_ungated(figure, Results([], gates), SETTINGS)
        found = figure.get_suptitle()
        assert found == (expected or "")


def write_comparison(folder):
    row = {
        "model": "m",
        "dataset": "d",
        "setting": "a(k=1)",
        "against": "loss",
        "auc": 0.6,
        "auc_against": 0.55,
        "difference": 0.05,
        "difference_se": 0.02,
        "difference_low": 0.011,
        "difference_high": 0.089,
        "p": 0.012,
        "p_adjusted": 0.024,
        "correction": "max_t",
    }
    other = {**row, "setting": "a(k=2)", "difference": -0.01, "p": 0.6, "p_adjusted": 0.6}
    path = folder / "c.parquet"
    COMPARISON.write(path, pa.Table.from_pylist([row, other], COMPARISON.required), {})
    return path


def test_comparisons_say_how_many_were_tried(tmp_path):
    rows = comparison.read([], [write_comparison(tmp_path)])
    sheet = comparison.build(rows, [], SETTINGS)
    assert [c.text for c in sheet.lines[0].cells] == [
        "A% (k=1)", "0.600", "Loss", "0.550", "+0.050 ↑", "[+0.011, +0.089]", "0.012", "0.024",
    ]  # fmt: skip
    assert sheet.lines[0].cells[4].strong and not sheet.lines[1].cells[4].strong
    assert sheet.notes[0].startswith("3 settings, 2 pairs on each model and dataset.")
    assert "max-T" in sheet.notes[0]
    assert any("No blind baseline judged it" in note for note in sheet.notes)


def write_transfer(folder):
    rows = [
        {
            "model": "m",
            "learned_on": one,
            "judged_on": other,
            "out_of_fold": one == other,
            "learned_from": 100,
            "members": 60,
            "nonmembers": 40,
            "auc": 0.5 + 0.3 * (one == other),
            "auc_se": 0.05,
            "auc_low": 0.4,
            "auc_high": 0.9,
        }
        for one in "de"
        for other in "de"
    ]
    path = folder / "transfer.parquet"
    TRANSFER.write(path, pa.Table.from_pylist(rows, TRANSFER.required), {})
    return path


def test_transfers_as_table_and_heat_map(tmp_path):
    path = write_transfer(tmp_path)
    sheet = transfer.build(transfer.read([], [path]), [gate()], SETTINGS)
    assert [column.title for column in sheet.columns] == ["Learned on", "Clean", "e"]
    assert [c.text for c in sheet.lines[0].cells] == ["Clean", "0.800 †", "0.500"]
    assert sheet.lines[1].cells[1].detail == "[0.400, 0.900]"
    figure = transfer_figure.draw(Results([], [], found=[path]), SETTINGS)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[0] == "0.800 †\n[0.400, 0.900]" and texts[1].startswith("0.500\n")


def test_inference_with_its_false_positives(tmp_path):
    nulls = (np.arange(200) + 0.5) / 200  # as uniform as can be: 10 of 200 under 0.05
    rows = [
        {"split": -1, "suspects": 10, "held_out": 10, "p": 0.3},
        {
            "split": -1,
            "suspects": 90,
            "held_out": 80,
            "difference": 0.4,
            "se": 0.1,
            "degrees": 100.0,
            "p": 0.0004,
        },
        *({"split": i, "suspects": 40, "held_out": 40, "p": p} for i, p in enumerate(nulls)),
    ]
    path = tmp_path / "i.parquet"
    table = pa.Table.from_pylist(rows, INFERENCE.required)
    INFERENCE.write(path, table, {"model": "m", "dataset": "d"})
    sheet = inference.build(inference.read([], [path]), [gate()], SETTINGS)
    assert [c.text for c in sheet.lines[0].cells] == [
        "0.300", "<0.001", "90 + 80", "+0.400 (0.100)", "0.050", "1.000",
    ]  # fmt: skip
    low, high = stats.binomtest(10, 200).proportion_ci(0.95, "exact")
    assert cell(sheet, 0, "False positives").detail == f"[{low:.3f}, {high:.3f}]"
    assert cell(sheet, 0, "p, all").strong
    shifted = inference.build(inference.read([], [path]), [gate(shift=True)], SETTINGS)
    assert shifted.lines[0].shaded and not cell(shifted, 0, "p, all").strong


def write_calibration(folder, dataset, scores, threshold):
    """Judged non-members with `scores`, one unlabelled text at 100, and one that calibrated."""
    count = len(scores)
    columns = {
        "text_id": [f"t{i}" for i in range(count + 2)],
        "group": [f"t{i}" for i in range(count + 2)],
        "label": pa.array([0] * count + [None, 0], pa.int8()),
        "setting": ["loss"] * (count + 2),
        "score": [*map(float, scores), 100.0, 1e6],
        "judged": [True] * (count + 1) + [False],
        "p_value": pa.array([0.5] * (count + 1) + [None], pa.float64()),
        "decision": pa.array([False] * (count + 1) + [None], pa.bool_()),
        "threshold": [threshold] * (count + 2),
    }
    path = folder / dataset / "loss.parquet"
    footer = {
        "model": "m",
        "dataset": dataset,
        "attack": "loss",
        "settings": ["loss"],
        "calibration": None,
        "calibrating": 25,
    }
    CALIBRATION.write(path, pa.table(columns, schema=CALIBRATION.required), footer)
    return path


def test_a_threshold_taken_elsewhere_is_shown_as_a_mismatch(tmp_path):
    paths = [
        write_calibration(tmp_path, "d", range(40), 37.0),
        write_calibration(tmp_path, "e", range(20, 60), 57.0),
    ]
    settings = {
        **SETTINGS,
        "order": {**SETTINGS["order"], "datasets": ["d", "e"]},
        "fpr": 0.05,
        "places": [["m", "d"]],
        "mismatches": [
            {"from": {"model": "m", "dataset": "d"}, "to": {"model": "m", "dataset": "e"}}
        ],
    }
    sheet = calibration.build(calibration.read([], paths), [gate()], settings)
    own, elsewhere = sheet.data
    assert (own["dataset"], own["fpr"], own["fpr_texts"]) == ("d", 2 / 40, 40)
    # Above 37 are 38 … 59, 22 of the 40 non-members of e.
    assert (elsewhere["dataset"], elsewhere["threshold_dataset"]) == ("e", "d")
    assert (elsewhere["fpr_called"], elsewhere["fpr"]) == (22, 22 / 40)
    assert cell(sheet, 1, "FPR").text == "0.550 ↑" and cell(sheet, 1, "FPR").strong
    assert cell(sheet, 0, "FPR").text == "0.050" and cell(sheet, 0, "TPR").text == ""
    assert cell(sheet, 0, "Unlabelled called").text == "1 of 1"
    assert [cell(sheet, i, "Threshold from").text for i in (0, 1)] == ["own non-members", "Clean"]
    assert any("mismatch" in note for note in sheet.notes)


def test_groups_beside_texts(tmp_path):
    texts = write_metrics(tmp_path / "texts", [metric("a(k=1)", auc=0.55)])
    row = metric("a(k=1)", auc=0.7, p=0.01, members=20, nonmembers=30, grouping="none")
    path = tmp_path / "groups" / "a.parquet"
    METRICS.write(path, pa.Table.from_pylist([row], METRICS.required), {"unit": "group"})
    sheet = groups.build(groups.read(texts, [path]), [gate()], SETTINGS)
    assert [c.text for c in sheet.lines[0].cells] == [
        "A% (k=1)", "0.550", "[0.520, 0.580]", "0.700 ↑", "[0.670, 0.730]", "20 + 30", "0.010",
    ]  # fmt: skip
    assert "1 settings were tried" in sheet.notes[0]
