"""Texts of files of the hub: shapes, labels, draws, and the one line that each mistake gives."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.planning.config import check
from scripts.sources.hub import load
from scripts.sources.published_files import rows
from scripts.views.published import rewrite
from tests.dataset_files import write_lines, write_parquet

SCHEMA = Path(__file__).parents[1] / "config/schema.yaml"
COMMIT = "c0ffee" + "0" * 34


def settings(**entry) -> dict:
    """An entry with the defaults of the schema, as the rules give it."""
    entry = {"source": "hub", "id": "ns/d", "files": ["*"], **entry}
    files = [{"path": f} if isinstance(f, str) else f for f in entry["files"]]
    entry = check(entry, "dataset_hub", SCHEMA, "test")
    return {**entry, "files": files, "dataset": "d", "seed": 1}


def manifest(folder: Path, *files: str) -> Path:
    """hub.json beside files, as fetch_dataset writes it."""
    path = folder / "hub.json"
    names = files or sorted(f.name for f in folder.iterdir() if f != path)
    about = {"id": "ns/d", "revision": "main", "commit": COMMIT, "files": dict.fromkeys(names, {})}
    path.write_text(json.dumps(about))
    return path


def texts(folder: Path, **entry) -> list[dict]:
    loaded = load([manifest(folder)], settings(**entry))
    TEXTS.check(loaded.texts)
    TEXTS.check(loaded.aside)
    return loaded.texts.to_pylist()


def mistake(folder: Path, **entry) -> str:
    with pytest.raises(UserError) as caught:
        texts(folder, **entry)
    message = str(caught.value)
    assert "\n" not in message
    return message


ROWS = [{"text": "one ü", "label": 1}, {"text": "two,\n2", "label": 0}]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.parquet"])
def test_all_kinds_of_files_give_the_same_rows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        write_parquet(path, text=[r["text"] for r in ROWS], label=[r["label"] for r in ROWS])
    elif name.endswith("csv"):
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows([["text", "label"], *(row.values() for row in ROWS)])
    else:
        # A line separator of Unicode inside a string is no end of line.
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()
        packed = pa.compress(content, codec="zstd", asbytes=True)
        path.write_bytes(
            {"gz": gzip.compress(content), "zst": packed}.get(name.rpartition(".")[2], content)
        )
    found = texts(tmp_path)
    assert [(t["text_id"], t["text"], t["label"]) for t in found] == [
        ("1.1", "one ü", 1),
        ("1.2", "two,\n2", 0),
    ]


def test_lines_with_other_separators_of_unicode_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('"a\u2028b"\n\n"c\x85d"\n')
    assert [row["value"] for row in rows(tmp_path / "a.jsonl")] == ["a\u2028b", "c\x85d"]


def test_labels_by_file_and_bare_strings(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.jsonl", ["a", "b"])
    write_lines(tmp_path / "test.jsonl", ["c"])
    files = [{"path": "train.jsonl", "label": 1}, {"path": "test.jsonl", "label": 0}]
    found = texts(tmp_path, files=files, columns={"text": "value"}, counts={"members": 2})
    assert [(t["text_id"], t["text"], t["label"]) for t in found] == [
        ("1.1", "a", 1),
        ("1.2", "b", 1),
        ("2.1", "c", 0),
    ]


def test_pairs_in_one_row(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", seen=["a", "b"], nonmember=["c", "d"], topic=["x", "y"])
    columns = {"member": "seen", "group": "topic"}
    found = texts(tmp_path, shape="pairs", columns=columns)
    assert [(t["text_id"], t["text"], t["label"], t["group"]) for t in found] == [
        ("1.1.1", "a", 1, "x"),
        ("1.1.2", "c", 0, "x"),
        ("1.2.1", "b", 1, "y"),
        ("1.2.2", "d", 0, "y"),
    ]


def test_verbatim_excerpts(tmp_path: Path) -> None:
    row = {"Example_A": "a", "Example_B": "b", "Answer": "B", "ID": "p", "Label": 1}
    write_lines(tmp_path / "a.jsonl", [row])
    [text] = texts(tmp_path, shape="verbatim", columns={"label": "Label", "group": "ID"})
    assert (text["text"], text["label"], text["group"]) == ("b", 1, "p")


def test_titles_of_books(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"text": "a", "label": 1, "book": "Dune.TXT"}])
    assert texts(tmp_path, shape="books", columns={"group": "book"})[0]["group"] == "dune"


def test_nested_columns_and_rows_that_are_left_out(tmp_path: Path) -> None:
    lines = [{"text": n, "meta": {"set": s}} for n, s in zip("abcd", "xyzx", strict=True)]
    write_lines(tmp_path / "a.jsonl", lines)
    entry = {"files": [{"path": "*", "label": 0}], "columns": {"domain": "meta.set"}}
    found = texts(tmp_path, **entry, where={"meta.set": ["x", "y"]})
    assert [(t["text"], t["domain"], t["text_id"]) for t in found] == [
        ("a", "x", "1.1"),
        ("b", "y", "1.2"),
        ("d", "x", "1.4"),
    ]


def test_a_draw_is_of_each_label_and_domain_and_grows_by_one(tmp_path: Path) -> None:
    lines = [{"text": f"t{n}", "label": n % 2, "set": "xy"[n % 3 == 0]} for n in range(300)]
    write_lines(tmp_path / "a.jsonl", lines)
    small, large = (
        texts(tmp_path, columns={"domain": "set"}, draw=most, counts={"rows": 300})
        for most in (20, 21)
    )
    assert Counter((t["label"], t["domain"]) for t in small) == dict.fromkeys(
        [(0, "x"), (0, "y"), (1, "x"), (1, "y")], 20
    )
    names = [int(t["text_id"].partition(".")[2]) for t in small]
    assert names == sorted(names)
    assert {t["text_id"] for t in small} < {t["text_id"] for t in large}
    # Uniform: the mean of 80 numbers below 300 has a standard deviation of about 8.
    assert abs(sum(names) / len(names) - 150) < 40


def test_rows_aside_are_whole_groups_of_both_labels(tmp_path: Path) -> None:
    lines = [{"text": f"t{n}", "label": n // 50, "book": str(n // 5)} for n in range(100)]
    write_lines(tmp_path / "a.jsonl", lines)
    loaded = load([manifest(tmp_path)], settings(columns={"group": "book"}, aside=7))
    kept, aside = loaded.texts.to_pylist(), loaded.aside.to_pylist()
    assert Counter(t["label"] for t in aside) == {0: 10, 1: 10}  # two books of 5 each
    assert not {t["group"] for t in aside} & {t["group"] for t in kept}
    assert len(kept) + len(aside) == 100
    assert "aside: 50 rows of label 1 are all" in mistake(tmp_path, aside=50)


def test_copies_share_a_group_and_blank_rows_are_left_out(tmp_path: Path, capsys) -> None:
    lines = [{"text": t, "label": 1} for t in ("a", "b", "a", " ", None)]
    write_lines(tmp_path / "a.jsonl", lines)
    found = texts(tmp_path)
    assert [t["text_id"] for t in found] == ["1.1", "1.2", "1.3"]
    assert found[0]["group"] == found[2]["group"] != found[1]["group"]
    assert "2 rows without a text are left out; 1 texts are copies" in capsys.readouterr().err


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"input": "a", "label": 1}, {"input": "b", "label": 2}])
    where = "dataset d: ns/d@c0ffee000000"
    assert mistake(tmp_path) == (
        f"{where}: a.jsonl, row 1: no column 'text'; it has input, label: mend `columns` of the "
        "dataset's entry"
    )
    columns = {"text": "input"}
    assert f"{where}: a.jsonl, row 2, label: label '2' (int) is not" in mistake(
        tmp_path, columns=columns
    )
    entry = {"columns": columns, "files": [{"path": "a.jsonl", "label": 1}]}
    counts = {"rows": 3, "members": 3, "nonmembers": 0}
    assert f"{where} has 2 rows (expected: 3) and 2 members (expected: 3); look" in mistake(
        tmp_path, **entry, counts=counts
    )
    files = [{"path": "b*.jsonl", "label": 1}]
    assert "no file b*.jsonl; mend `files` of the entry; it has a.jsonl" in mistake(
        tmp_path, columns=columns, files=files
    )
    twice = {**columns, "text_id": "label"}
    (tmp_path / "a.jsonl").write_text('{"input": "a", "label": 1}\n' * 2)
    assert "text_id '1' comes twice" in mistake(tmp_path, columns=twice)
    (tmp_path / "a.jsonl").write_text('{"input": \n')
    assert "line 1: not JSON" in mistake(tmp_path, **entry)
    (tmp_path / "hub.json").unlink()
    about = manifest(tmp_path, "a.txt")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(UserError, match=r"a\.txt: no kind of file that is known; valid: \.parquet"):
        load([about], settings())
    (tmp_path / "a.txt").unlink()
    with pytest.raises(UserError, match=r"not in the hub cache any more; remove .*hub\.json"):
        load([about], settings())


def rewritten(folder: Path, table: pa.Table, files: list[str], **columns: str) -> pa.Table:
    """The rewritings in `files` of the texts of `table`."""
    return rewrite(
        table,
        table.slice(0, 0),
        seed=0,
        path=str(folder / "hub.json"),
        files=[{"path": file} for file in files],
        columns=columns,
    )


def test_lists_of_neighbours_go_to_the_text_of_their_row(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.jsonl", ["a", "b"])
    write_lines(tmp_path / "test.jsonl", ["c"])
    write_lines(tmp_path / "n_train.jsonl", [["a1", "a2"], ["b1"]])
    write_lines(tmp_path / "n_test.jsonl", [["c1"]])
    about = manifest(tmp_path)
    files = [{"path": "train.jsonl", "label": 1}, {"path": "test.jsonl", "label": 0}]
    table = load([about], settings(files=files, columns={"text": "value"})).texts
    view = rewritten(tmp_path, table, ["n_train.jsonl", "n_test.jsonl"], text="value")
    assert [(r["text_id"], r["text"], r["label"], r["variant"]) for r in view.to_pylist()] == [
        ("1.1", "a1", 1, 1),
        ("1.1", "a2", 1, 2),
        ("1.2", "b1", 1, 1),
        ("2.1", "c1", 0, 1),
    ]
    write_lines(tmp_path / "n_test.jsonl", [])
    with pytest.raises(
        UserError, match=r"no rewritings for 1 of 3 texts, the first of them '2\.1'"
    ):
        rewritten(tmp_path, table, ["n_train.jsonl", "n_test.jsonl"], text="value")


def test_blocks_of_neighbours_go_to_the_texts_in_their_order(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", text=["a", "b"], label=[1, 0])
    write_parquet(tmp_path / "n.parquet", text=["a1", "a2", "b1", "b2"], label=[1, 1, 0, 0])
    about = manifest(tmp_path)
    table = load([about], settings(files=["a.parquet"])).texts
    view = rewritten(tmp_path, table, ["n.parquet"], label="label")
    assert view.select(["text_id", "text"]).to_pylist() == [
        {"text_id": f"1.{row}", "text": text}
        for row, text in zip([1, 1, 2, 2], ["a1", "a2", "b1", "b2"], strict=True)
    ]
    write_parquet(tmp_path / "n.parquet", text=["b1", "b2", "a1", "a2"], label=[0, 0, 1, 1])
    with pytest.raises(UserError, match=r"of text '1\.1' have another label than it"):
        rewritten(tmp_path, table, ["n.parquet"], label="label")
    write_parquet(tmp_path / "n.parquet", text=["a1", "a2", "b1"], label=[1, 1, 0])
    with pytest.raises(UserError, match="3 rewritings cannot be given out to 2 texts"):
        rewritten(tmp_path, table, ["n.parquet"])
