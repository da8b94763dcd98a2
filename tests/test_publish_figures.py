import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from scripts.errors import UserError
from scripts.publish.figures import ages, exposures, parameters, roc, shift
from scripts.publish.results import Results
from scripts.publish.style import DASHES, MARKERS, look, panels, save, use_style, wrapped
from tests.publish_rows import gate, metric, write_gates, write_metrics, write_scores, write_texts

use_style()


def bars(axes):
    """(x, y, y low, y high) of each point with a vertical interval, by the label of its series."""
    found = {}
    for container in axes.containers:
        line, _, (segments,) = container.lines
        points = zip(*line.get_data(), segments.get_segments(), strict=True)
        found[container.get_label()] = [
            (float(x), float(y), *map(float, s[:, 1])) for x, y, s in points
        ]
    return found


def test_exposures_come_from_the_texts(tmp_path):
    texts = [
        write_texts(tmp_path, "once", [1, 1, 0], exposures=[1, 1, 0]),
        write_texts(tmp_path, "often", [1, 1, 0], exposures=[8, 8, 0]),
    ]
    rows = [
        metric(dataset="often", auc=0.8, auc_low=0.75, auc_high=0.84),
        metric(dataset="once", auc=0.51, auc_low=0.48, auc_high=0.54),
        metric("a(k=1)", dataset="once"),
    ]
    gates = [gate(dataset="once", auc=0.49), gate("other", dataset="once", best=False, auc=0.9)]
    figure = exposures.draw(Results(rows, gates, texts=texts), {"name": "f", "settings": ["loss"]})
    [axes] = figure.axes
    found = bars(axes)
    assert [(round(x), *rest) for x, *rest in found["m"]] == [
        (1, 0.51, 0.48, 0.54),
        (8, 0.8, pytest.approx(0.75), pytest.approx(0.84)),
    ]
    assert [y for _, y, *_ in found["best blind baseline (no model)"]] == [0.49]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "8"]


def test_exposures_refuse_a_mixture(tmp_path):
    texts = [write_texts(tmp_path, "d", [1, 1, 0], exposures=[1, 2, 0])]
    with pytest.raises(UserError, match=r"figure f: members of d were seen \[1, 2\] times"):
        exposures.draw(Results([metric()], [], texts=texts), {"name": "f"})
    texts = [write_texts(tmp_path, "d", [1, 0])]
    with pytest.raises(UserError, match="no column 'exposures'"):
        exposures.draw(Results([metric()], [], texts=texts), {"name": "f"})


def test_ages_are_steps_since_members_were_last_seen(tmp_path):
    texts = [
        write_texts(tmp_path, "early", [1, 1, 0], step=[10, 30, 900]),  # mean of members: 20
        write_texts(tmp_path, "late", [1, 1, 0], step=[140, 160, 900]),  # 150
    ]
    rows = [
        metric(model=f"m-step{step}", dataset=dataset, auc=auc)
        for step, dataset, auc in (
            (100, "early", 0.6),
            (100, "late", 0.5),
            (200, "early", 0.55),
            (200, "late", 0.58),
        )
    ]
    figure = ages.draw(Results(rows, [], texts=texts), {"name": "f"})
    found = bars(figure.axes[0])
    # 12 steps between the two checkpoints' points, so that their intervals can be told apart.
    assert [(x, y) for x, y, *_ in found["m-step100"]] == [(100 - 20 - 6, 0.6)]
    assert [(x, y) for x, y, *_ in found["m-step200"]] == [(56, 0.58), (186, 0.55)]
    [unseen] = [points for label, points in found.items() if label.startswith("_")]
    assert [(x, y) for x, y, *_ in unseen] == [(100 - 150 - 6, 0.5)]


def test_ages_need_checkpoints(tmp_path):
    texts = [write_texts(tmp_path, "d", [1, 0], step=[1, 2])]
    with pytest.raises(UserError, match="figure f: m names no checkpoint"):
        ages.draw(Results([metric()], [], texts=texts), {"name": "f"})


def test_shift_puts_baselines_below_the_attacks():
    rows = [metric(dataset=d, auc=a) for d, a in (("clean", 0.5), ("shifted", 0.9))]
    gates = [
        gate(dataset="shifted", auc=0.97),
        gate(classifier="mlp", dataset="shifted", chosen=False),
    ]
    settings = {
        "name": "f",
        "titles": {"attacks": {"loss": "Loss"}, "baselines": {"bow_text": "BoW"}},
    }
    figure = shift.draw(Results(rows, gates), settings)
    clean, shifted = figure.axes
    assert [label.get_text() for label in clean.get_yticklabels()] == ["Loss", "BoW"]
    line = {c.get_label(): c.lines[0].get_data() for c in shifted.containers}
    assert [list(map(float, data)) for data in line["attacks, m"]] == [[0.9], [0.0]]
    assert [list(map(float, data)) for data in line["blind baselines (no model)"]] == [
        [0.97],
        [1.0],
    ]


def test_parameters_show_all_values():
    rows = [
        *(metric(f"tag_tab(k={k})", model=m, auc=0.5 + k / 100) for m in "mn" for k in (1, 2, 10)),
        *(
            metric(f"gap_k(window={w},ratio={r})", model=m, auc=round(0.6 + w / 100, 2))
            for m in "mn"
            for w in (6, 1)
            for r in (0.1, 0.2)
        ),
    ]
    wanted = [{"attack": "tag_tab", "x": "k"}, {"attack": "gap_k", "x": "window", "lines": "ratio"}]
    figure = parameters.draw(Results(rows, []), {"name": "f", "panels": wanted})
    by_model, by_ratio = map(bars, figure.axes)
    assert {label: [y for _, y, *_ in points] for label, points in by_model.items()} == {
        "m": [0.51, 0.52, 0.6],
        "n": [0.51, 0.52, 0.6],
    }
    assert {label: [y for _, y, *_ in points] for label, points in by_ratio.items()} == {
        "ratio 0.1": [0.61, 0.66],  # windows 1 and 6, sorted, on the last model alone
        "ratio 0.2": [0.61, 0.66],
    }
    assert figure.axes[1].get_title() == "gap_k on n"
    with pytest.raises(UserError, match="figure f: tag_tab has no results with a parameter 'q'"):
        parameters.draw(
            Results(rows, []), {"name": "f", "panels": [{"attack": "tag_tab", "x": "q"}]}
        )


def roc_results(folder):
    rng = np.random.default_rng(0)
    labels = [1] * 60 + [0] * 140
    # The pool holds more texts than the selection, in another order of labels.
    scores = np.round(rng.normal(size=250), 1)
    rows = [metric(), metric("a(k=1)"), metric("a(k=2)")]
    results = Results(
        rows,
        [gate()],
        scores=[
            write_scores(folder, "m", "pool", "loss", loss=scores),
            write_scores(folder, "m", "pool", "a", **{"a(k=1)": scores, "a(k=2)": scores}),
        ],
        texts=[write_texts(folder, "d", labels)],
    )
    return results, scores[:200], labels


def test_roc_is_scikit_learns(tmp_path):
    results, scores, labels = roc_results(tmp_path)
    figure = roc.draw(results, {"name": "f", "pools": {"d": "pool"}})
    [axes] = figure.axes
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    lines = {line.get_label(): line.get_data() for line in axes.get_lines()}
    np.testing.assert_allclose(lines["loss"], [fpr, tpr])
    assert set(lines) >= {"loss", "a (k=1)"} and "a (k=2)" not in lines  # the first of each attack
    assert axes.get_xscale() == axes.get_yscale() == "log"


KINDS = {"exposures": {}, "parameters": {"panels": [{"attack": "a", "x": "k"}]}, "roc": {}}
DRAW = """
import json, sys
from scripts.publish import figure
for sys.argv in json.load(sys.stdin):
    figure.main()
"""


def test_files_are_the_same_bytes_in_another_process(tmp_path):
    labels = [1] * 30 + [0] * 30
    scores = {f"a(k={k})": np.arange(60.0) * k for k in (1, 2)}
    rows = [metric(name, model="m-step9") for name in ("loss", *scores)]
    inputs = {
        "metrics": write_metrics(tmp_path, rows),
        "gates": write_gates(tmp_path, [gate()]),
        "scores": [
            write_scores(tmp_path, "m-step9", "d", "loss", loss=np.arange(60.0)),
            write_scores(tmp_path, "m-step9", "d", "a", **scores),
        ],
        "texts": [write_texts(tmp_path, "d", labels, step=[5] * 60, exposures=labels)],
    }
    words = ["figure", *(word for name, paths in inputs.items() for word in (f"--{name}", *paths))]
    files = []
    for run in ("1", "2"):
        calls = []
        for kind, options in KINDS.items():
            settings = json.dumps({"name": "f", "kind": kind, **options})
            out = (tmp_path / run / f"{kind}.{suffix}" for suffix in ("svg", "pdf", "png"))
            outputs = [word for path in out for word in ("-" + path.suffix.replace(".", "-"), path)]
            calls.append(list(map(str, [*words, "--settings", settings, *outputs])))
        subprocess.run(
            [sys.executable, "-c", DRAW],
            input=json.dumps(calls),
            text=True,
            check=True,
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "PYTHONHASHSEED": run, "SOURCE_DATE_EPOCH": run},
        )
        files.append({path.name: path.read_bytes() for path in (tmp_path / run).iterdir()})
    assert len(files[0]) == 3 * len(KINDS)
    assert files[0] == files[1]


def test_series_differ_in_more_than_colour():
    looks = [look(i) for i in range(4)]
    for key, kinds in (("marker", MARKERS), ("linestyle", DASHES), ("color", None)):
        assert len({one[key] for one in looks}) == 4, (key, kinds)


def test_a_failed_write_leaves_no_file(tmp_path, monkeypatch):
    figure, _ = panels(1, 1)

    def fail(path, **_):
        Path(path).write_text("half")
        raise OSError("full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="full"):
        save(figure, tmp_path / "f.svg")
    assert list(tmp_path.iterdir()) == []


def test_titles_of_narrow_panels_break_before_a_bracket():
    assert (
        wrapped("Clean control (old seen, old unseen)") == "Clean control\n(old seen, old unseen)"
    )
