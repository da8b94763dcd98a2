import json
import re
import sys
from html.parser import HTMLParser

import pytest

from scripts.errors import UserError
from scripts.publish import report, summary
from scripts.publish.findings import headlines, overview
from scripts.publish.formats import to_html, to_markdown
from scripts.publish.resources import stages
from scripts.publish.sheet import Cell, Column, Line, Sheet
from scripts.publish.titles import Titles
from tests.publish_rows import counted, gate, metric, write_gates, write_metrics

TITLES = Titles({"datasets": {"d": "Clean", "dated": "Dated"}})

SVG = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"
  "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="1pt" xmlns="http://www.w3.org/2000/svg">
 <metadata><rdf:RDF xmlns:cc="http://creativecommons.org/ns#"/></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="axes_1"><!-- a -->
  <path id="p1" clip-path="url(#c1)" style="fill: #c1c1c1"/><use xlink:href="#p1"/>
 </g>
 <defs><clipPath id="c1"/></defs>
</svg>
"""

SHEET = Sheet(
    name="table_2",
    title="Attacks",
    about="Dataset: Clean.",
    columns=[Column("Attack", number=False), Column("AUC"), Column("Over|Loss")],
    lines=[
        Line([Cell("Loss"), Cell("0.512 ↑", strong=True), Cell()]),
        Line([Cell("Min-K%"), Cell("0.6"), Cell("+0.1")]),
    ],
    notes=["First note.", "Second note."],
    data=[],
)


class Page(HTMLParser):
    """What a page loads, its ids, the ids it points to, and whether its tags are balanced."""

    VOID = {"meta", "link", "br", "img", "hr"}

    def __init__(self, text):
        super().__init__()
        self.loads, self.ids, self.points, self.open, self.text = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.handle_attributes(attrs)

    def handle_startendtag(self, tag, attrs):
        self.handle_attributes(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_attributes(self, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src", "srcset", "data", "action"):
                (self.points if value.startswith("#") else self.loads).append(value)
            self.points += re.findall(r"url\((#[^)]*)\)", value or "")


def write_report(folder, monkeypatch, checks, **settings):
    rows = [metric(p=1e-6), metric("a(k=1)", over_blind_p=1e-6), metric(dataset="dated", auc=0.9)]
    scores = {"tokens": {"dataset": "pool", "dtype": "float32", "texts": {"source": "made <up>"}}}
    metrics = write_metrics(folder, rows, scores=scores)
    gates = write_gates(folder, [gate(), gate(dataset="dated", shift=True, auc=0.97)])
    (folder / "table_2.html").write_text(to_html(SHEET))
    for name in ("one", "two"):
        (folder / f"{name}.svg").write_text(SVG)
    (folder / "sanity.json").write_text(json.dumps(checks))
    training = folder / "models" / "m" / "training.json"
    training.parent.mkdir(parents=True, exist_ok=True)
    training.write_text('{"threads": 1, "cpu_capability": "AVX2"}')
    settings = {
        "study": "s",
        "title": "A <study>",
        "question": "Was it seen?",
        "captions": {"one": {"title": "First figure", "text": "How to read it."}},
        "titles": {"datasets": {"d": "Clean", "dated": "Dated"}},
        "notes": {"dated": "Split by date."},
        "provenance": {"seed": 1234, "nested": {"rate": 0.001}},
        **settings,
    }
    words = [
        *("report", "--tables", folder / "table_2.html"),
        *("--figures", folder / "one.svg", folder / "two.svg"),
        *("--sanity", folder / "sanity.json", "--metrics", *metrics, "--gates", *gates),
        *("--trainings", training, "--benchmarks", folder / "benchmarks"),
        *("--report", folder / "report.html", "--settings", json.dumps(settings)),
    ]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    report.main()
    return (folder / "report.html").read_text()


GOOD = {"check": "good", "value": 0.5, "bound": [0.47, 0.57], "ok": True, "detail": "here"}
BAD = {"check": "bad", "value": None, "bound": "> 0.8", "ok": False, "detail": "nothing has d"}


def test_the_page_loads_nothing_and_its_ids_are_its_own(tmp_path, monkeypatch):
    text = write_report(tmp_path, monkeypatch, [GOOD])
    page = Page(text)
    assert page.loads == []
    assert not re.search(r"https?:|@import|<script|<link", text)
    assert len(page.ids) == len(set(page.ids))
    assert {point.removeprefix("#") for point in page.points} <= set(page.ids)
    assert {"#figure1-p1", "#figure2-p1", "#figure1-c1", "#figure2-c1"} <= set(page.points)


def test_an_svg_keeps_its_colours_and_loses_what_holds_for_a_page():
    svg = report.inline_svg(SVG, "one")
    assert svg.startswith('<svg role="img" aria-labelledby="one-title" width="1pt">')
    assert "fill: #c1c1c1" in svg
    assert 'href="#one-p1"' in svg and "url(#one-c1)" in svg and 'id="one-axes_1"' in svg
    assert "<style" not in svg and "metadata" not in svg


def test_the_page_reads_from_top_to_bottom(tmp_path, monkeypatch):
    text = " ".join(Page(write_report(tmp_path, monkeypatch, [GOOD])).text)
    assert text.index("A <study>") < text.index("What was asked") < text.index("Was it seen?")
    text = text[text.index("Was it seen?") :]  # below the contents
    parts = [
        "What was found",
        "at least one setting is significantly above the best blind baseline in 1 of 1 pairs",
        "Dated: a shift was seen.",
        "Sanity",
        "All 1 hold.",
        "0.470 to 0.570",
        "Tables",
        "First note.",
        "Figures",
        "First figure",
        "How to read it.",
        "Caveats",
        "variance of training the target model again",
        "no signal",
        "label 1 is no member",
        "CPU with other instructions",
        "Provenance",
        "1234",
        "float32",
        "AVX2",
        "made <up>",
        "Time and memory",
        "No benchmark files were found.",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), dict(zip(parts, places, strict=True))


def test_a_failed_check_is_red_and_said_first(tmp_path, monkeypatch):
    text = write_report(tmp_path, monkeypatch, [GOOD, BAD])
    assert '<tr class="first failed">' in text and '<tr class="first">' in text
    assert re.search(r"\.failed \{ color: var\(--bad\)", text)
    assert text.index("1 of 2 sanity checks failed") < text.index('id="sanity"')
    assert "hold." not in text


def test_no_checks_no_section(tmp_path, monkeypatch):
    text = write_report(tmp_path, monkeypatch, [])
    assert 'id="sanity"' not in text and "#sanity" not in text


def test_stages_sum_their_jobs(tmp_path):
    header = "s\th:m:s\tmax_rss\tcpu_time\n"
    for name, line in {
        "extract/m/d/original.tsv": "2.5\t0:00:02\t100.5\t2.0\n",
        "extract/n/d/original.tsv": "4.0\t0:00:04\t80\t3.5\n",
        "tag/d.tsv": "0.1\t0:00:00\t-\tNA\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(header + line)
    (tmp_path / "extract/other.tsv").mkdir()  # a dataset may be called so
    jobs = ["tag/d", "extract/m/d/original", "extract/n/d/original", "score/never/ran"]
    found = [(s.name, s.jobs, s.seconds, s.cpu_seconds, s.peak_mb) for s in stages(tmp_path, jobs)]
    assert found == [("extract", 2, 6.5, 5.5, 100.5), ("tag", 1, 0.1, 0.0, 0.0)]


ROWS = [
    counted(row)
    for row in (
        # Two settings each: 0.02 * 2 = 0.04 is significant, 0.03 * 2 = 0.06 is not.
        metric(p=0.02, over_blind_p=0.03),
        metric("a(k=1)", p=0.9, over_blind_p=0.9),
        metric(model="n", p=0.03, over_blind_p=0.001),
        metric("a(k=1)", model="n", p=0.9, over_blind_p=0.001, over_blind=-0.1),
        metric(dataset="dated", auc=0.93),
        metric(dataset="new"),
    )
]
GATES = [gate(), gate(dataset="dated", shift=True, auc=0.97)]


def test_headlines_are_counted():
    above, over_blind, shifted, ungated = headlines(ROWS, GATES, TITLES)
    assert above == (
        "Where no shift was seen, at least one setting is significantly above 0.5 in 1 of 2 pairs "
        "of a model and a dataset (Clean: 1 of 2 models)."
    )
    assert "above the best blind baseline in 1 of 2 pairs" in over_blind
    assert shifted.startswith("Dated: a shift was seen. Loss has AUC 0.930 there, and the best")
    assert "has AUC 0.970." in shifted
    assert ungated.startswith("No blind baseline was run on new:")


def test_the_overview_counts_settings_by_hand():
    sheet = overview(ROWS, GATES, TITLES, {"dated": "Split by date."})
    texts = [[cell.text for cell in line.cells] for line in sheet.lines]
    assert [t[0] for t in texts] == ["Clean", "Clean", "Dated", "new"]
    assert texts[0][3:] == ["m", "0.550", "[0.520, 0.580]", "1 of 2", "0 of 2", "0 of 1"]
    assert texts[1][6:8] == ["0 of 2", "1 of 2"]  # the other one is below
    assert [line.shaded for line in sheet.lines] == [False, False, True, False]
    assert sheet.notes[-1] == "Dated: Split by date."


def test_the_summary_is_plain_and_says_what_failed(tmp_path, monkeypatch, capsys):
    (tmp_path / "table_2.md").write_text(to_markdown(SHEET))
    (tmp_path / "sanity.json").write_text(json.dumps([GOOD, BAD]))
    monkeypatch.setattr(sys, "argv", ["summary", str(tmp_path)])
    summary.main()
    assert capsys.readouterr().out.splitlines() == [
        "Attacks",
        "Dataset: Clean.",
        "",
        "Attack      AUC  Over\\|Loss",
        "------  -------  ----------",
        "Loss    0.512 ↑",
        "Min-K%      0.6        +0.1",
        "",
        "First note.",
        "FAILED: bad: None, bound > 0.8 (nothing has d)",
        "1 of 2 sanity checks hold.",
        f"Report: {tmp_path / 'report.html'}",
    ]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    summary.main()
    assert "\033[31;1mFAILED: bad" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["summary", str(tmp_path), "--table", "x"])
    with pytest.raises(UserError, match="no table 'x'; there are table_2"):
        summary.main()
