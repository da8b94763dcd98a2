"""The step that loads texts: files through the contract, the same bytes each time."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.texts import summary

ROOT = Path(__file__).parents[1]


def step(*arguments: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "scripts.texts", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def test_a_csv_becomes_two_files_of_the_contract_with_provenance(tmp_path: Path) -> None:
    path = tmp_path / "my texts.csv"
    path.write_text("text,label,aside\na,1,\nb,0,\nc,1,true\n")
    entry = json.dumps({"dataset": "mine", "source": "file", "path": str(path)})
    written = []
    for folder in ("one", "two"):
        texts, aside = tmp_path / folder / "t.parquet", tmp_path / folder / "a.parquet"
        done = step("--inputs", path, "--texts", texts, "--aside", aside, "--settings", entry)
        assert done.returncode == 0, done.stderr
        written.append(texts.read_bytes() + aside.read_bytes())
    assert written[0] == written[1]
    assert TEXTS.read(texts)["text"].to_pylist() == ["a", "b"]
    assert TEXTS.read(aside)["text"].to_pylist() == ["c"]
    footer = provenance(texts)
    assert (footer["dataset"], footer["source"]) == ("mine", "file")
    assert "2 texts in 2 groups: 1 members, 1 non-members, 0 of unknown label" in done.stderr


def test_a_mistake_is_the_last_line_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("text,label\na,yes\n")
    entry = json.dumps({"dataset": "mine", "source": "file", "path": "my.csv"})
    out = tmp_path / "t.parquet"
    done = step("--inputs", path, "--texts", out, "--aside", out, "--settings", entry)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("pretrace: error: ")
    assert "line 2, column 'label'" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == [path]


def test_summary_counts_unknown_labels_and_empty_tables() -> None:
    table = pa.table({"label": pa.array([1, 0, None, None], pa.int8()), "group": list("aabc")})
    counts = "4 texts in 3 groups: 1 members, 1 non-members, 2 of unknown label"
    assert summary(table) == counts
    assert summary(table.slice(0, 0)).startswith("0 texts in 0 groups: 0 members")
