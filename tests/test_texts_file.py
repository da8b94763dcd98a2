"""A user's own file of texts: what is read, and the one line that each mistake gives."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.sources.file import load

ROWS = [
    {"text": "one, with a comma", "label": 1, "group": "a"},
    {"text": 'two "quoted"\nand broken', "label": 0, "group": "b"},
    {"text": "three ü", "label": None, "group": "b"},
]
CSV = 'text,label,group\n"one, with a comma",1,a\n"two ""quoted""\nand broken",0,b\n\nthree ü,,b\n'


def settings(**entry) -> dict:
    return {"dataset": "mine", "source": "file", **entry}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def mistake(path: Path | list[Path], **entry) -> str:
    with pytest.raises(UserError) as caught:
        load(path if isinstance(path, list) else [path], settings(**entry))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.jsonl", "t.jsonl.gz", "T.parquet"]
)
def test_all_kinds_of_files_give_the_same_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    if "csv" in name or "tsv" in name:
        content = CSV if "csv" in name else CSV.replace("text,label,group", "text\tlabel\tgroup")
        for old, new in [('",1,', '"\t1\t'), ('",0,', '"\t0\t'), ("ü,,", "ü\t\t")]:
            content = content if "csv" in name else content.replace(old, new)
    else:
        content = lines
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        data = content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)

    loaded = load([path], settings())
    TEXTS.check(loaded.texts)
    TEXTS.check(loaded.aside)
    assert loaded.texts.select(["text", "label", "group"]).to_pylist() == ROWS
    assert loaded.aside.num_rows == 0
    assert list(loaded.provenance["files"]) == [name]


def test_default_ids_stay_when_rows_are_added_and_groups_are_the_texts_own(tmp_path: Path) -> None:
    few = load([write(tmp_path, "a.csv", "text,label\nx,1\ny,0\n")], settings()).texts
    more = load([write(tmp_path, "b.csv", "text,label\nw,0\ny,0\nx,1\n")], settings()).texts
    ids = {row["text"]: row["text_id"] for row in more.to_pylist()}
    # sha256("x"), e.g. `printf x | sha256sum`
    assert ids["x"] == "2d711642b726b044"
    assert few["text_id"].to_pylist() == [ids["x"], ids["y"]]
    assert few["group"] == few["text_id"]


def test_columns_of_other_names_aside_column_and_aside_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "my.csv",
        "id,snippet,is_member,aside,date,domain\n7,a,1,false,1999,web\n8,b,0,,1999-12-31,\n9,c,0,TRUE,,\n",
    )
    other = write(tmp_path, "other.jsonl", '{"id": 1, "snippet": "d", "is_member": 1}\n')
    names = {"text": "snippet", "label": "is_member", "text_id": "id"}
    loaded = load([path, other], settings(columns=names))
    assert loaded.texts["text_id"].to_pylist() == ["7", "8"]
    assert loaded.texts["date"].to_pylist() == ["1999", "1999-12-31"]
    assert loaded.texts["domain"].to_pylist() == ["web", None]
    assert loaded.aside["text"].to_pylist() == ["c", "d"]
    assert loaded.texts.schema == loaded.aside.schema


def test_parquet_types_of_other_writers(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": pa.array(["a", "b"], pa.large_string()),
            "label": pa.array([1, 0], pa.int64()),
            "group": pa.array(["g", "g"]).dictionary_encode(),
            "date": pa.array([0, 365], pa.date32()),
            "aside": pa.array([True, False]),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    loaded = load([path], settings())
    assert loaded.texts["date"].to_pylist() == ["1971-01-01"]
    assert loaded.aside["group"].to_pylist() == ["g"]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b"\xef\xbb\xbftext,label\na,1\n")
    assert load([path], settings()).texts["text"].to_pylist() == ["a"]


# Name of the file, its content, what the message must hold.
MISTAKES = {
    "empty file": ("a.csv", "", ["a.csv is empty"]),
    "blank lines only": ("a.jsonl", "\n \n", ["a.jsonl is empty"]),
    "header only": ("a.csv", "text,label\n", ["has columns but no rows"]),
    "unknown kind": ("a.xlsx", "x", ["unknown kind of file '.xlsx'", ".parquet"]),
    "missing column": ("a.csv", "text,lable\na,1\n", ["no column 'label'", "mean 'lable'?"]),
    "missing column, none near": ("a.csv", "text,q\na,1\n", ["no column 'label'", "text, q"]),
    "semicolons": ("a.csv", "text;label\na;1\n", ["no column 'text'", "semicolons"]),
    "tabs": ("a.csv", "text\tlabel\na\t1\n", ["no column 'text'", "as .tsv"]),
    "column twice": ("a.csv", "text,label,text\na,1,b\n", ["line 1", "'text' comes twice"]),
    "label a word": ("a.csv", "text,label\na,1\nb,member\n", ["line 3, column 'label'", "'member'"]),
    "label a float": ("a.csv", "text,label\na,0.5\n", ["line 2, column 'label'", "'0.5'"]),
    "label 2": ("a.jsonl", '{"text": "a", "label": 2}', ["line 1, column 'label'", "'2'"]),
    "label a JSON float": ("a.jsonl", '{"text": "a", "label": 1.5}', ["line 1", "'1.5' (float)"]),
    "label true": ("a.jsonl", '{"text": "a", "label": true}', ["line 1", "'True' (bool)"]),
    "empty text": ("a.csv", 'text,label\na,1\n" ",0\n', ["line 3, column 'text'", "is empty"]),
    "no text": ("a.jsonl", '{"text": "a", "label": 1}\n{"label": 0}', ["line 2", "is empty"]),
    "text a number": ("a.jsonl", '{"text": 5, "label": 1}', ["line 1, column 'text'", "int '5'"]),
    "text twice": ("a.csv", "text,label\na,1\nb,0\na,0\n", ["line 4", "same text as", "line 2"]),
    "text_id twice": (
        "a.csv",
        "text,label,text_id\na,1,x\n\nb,0,x\n",
        ["line 4, column 'text_id'", "'x'", "line 2"],
    ),
    "blank group": ("a.csv", "text,label,group\na,1,\n", ["line 2, column 'group'", "blank"]),
    "group a list": ("a.jsonl", '{"text": "a", "label": 1, "group": []}', ["column 'group'", "list"]),
    "date": ("a.csv", "text,label,date\na,1,31.12.1999\n", ["line 2, column 'date'", "1999-12-31"]),
    "date that never was": ("a.csv", "text,label,date\na,1,1999-02-30\n", ["'1999-02-30'"]),
    "aside": ("a.csv", "text,label,aside\na,1,maybe\n", ["line 2, column 'aside'", "'maybe'"]),
    "all aside": ("a.csv", "text,label,aside\na,1,1\n", ["every row is aside"]),
    "aside and evaluated": (
        "a.csv",
        "text,label,aside\na,1,0\na,1,1\n",
        ["line 3", "line 2", "one of the two is aside"],
    ),
    "not UTF-8": ("a.csv", b"text,label\na,1\n\xe9t\xe9,0\n", ["line 3", "byte 16", "0xe9"]),
    "not UTF-8 behind a mark": ("a.csv", b"\xef\xbb\xbftext,label\n\xff,1\n", ["line 2", "byte 15"]),
    "UTF-16": ("a.csv", "text,label\na,1\n".encode("utf-16"), ["line 1", "not UTF-8"]),
    "fields": ("a.csv", "text,label\n\na, b,1\n", ["line 3: 3 fields", "header has 2", "comma"]),
    "open quote": ("a.csv", 'text,label\na,1\n"b,0\nc,1\n', ["line 3", "never closed"]),
    "text behind a quote": ("a.csv", 'text,label\n"b"c,0\n', ["line 2", "malformed"]),
    "JSON": ("a.jsonl", '{"text": "a", "label": 1}\n{"text": "b",\n', ["line 2", "malformed JSON"]),
    "JSON list": ("a.jsonl", '["a", 1]\n', ["line 1", "not a JSON object"]),
    "surrogate": ("a.jsonl", '{"text": "a\\ud800", "label": 1}', ["line 1", "character 2"]),
    "NUL": ("a.csv", "text,label\na,1\nab\0c,0\n", ["line 3, column 'text'", "character 3 is a NUL"]),
    "gzip": ("a.csv.gz", "text,label\n", ["not a whole gzip file"]),
    "gzip cut short": ("a.csv.gz", gzip.compress(b"text,label\n")[:-9], ["not a whole gzip file"]),
    "Parquet": ("a.parquet", "PAR1 no", ["not a whole Parquet file"]),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_each_mistake_is_one_line_that_names_its_place(tmp_path: Path, case: str) -> None:
    name, content, parts = MISTAKES[case]
    message = mistake(write(tmp_path, name, content))
    assert name in message
    for part in parts:
        assert part in message


def test_a_missing_file(tmp_path: Path) -> None:
    assert "none.csv: no such file" in mistake(tmp_path / "none.csv")


def test_a_parquet_file_of_wrong_types_counts_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b"], "label": [1, 0], "group": [1.5, 2.5]}), path)
    assert "a.parquet, row 1, column 'group': '1.5' is float" in mistake(path)
    pq.write_table(pa.table({"text": ["a", "b"], "label": pa.array([None, 0.5])}), path)
    assert "a.parquet, row 2, column 'label': label '0.5' (float) is not 0 or 1" in mistake(path)
    pq.write_table(pa.table({"text": [b"a"], "label": [1]}), path)
    assert "a.parquet, row 1, column 'text': the text is bytes" in mistake(path)


def test_a_text_in_both_files(tmp_path: Path) -> None:
    one = write(tmp_path, "a.csv", "text,label\na,1\nb,0\n")
    two = write(tmp_path, "b.csv", "text,label\nc,1\nb,0\n")
    message = mistake([one, two])
    assert "b.csv, line 3" in message and "a.csv, line 3, and one of the two is aside" in message


def test_names_that_the_entry_gives(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "snippet,label\na,1\n")
    assert "no column 'txet'; did you mean 'text'?" in mistake(path, columns={"txet": "snippet"})
    message = mistake(path, columns={"text": "snipet"})
    assert "no column 'snipet' (did you mean 'snippet'?)" in message
    # An optional column that the entry names must be there.
    assert "no column 'book'" in mistake(path, columns={"text": "snippet", "group": "book"})


def test_a_mistake_names_the_column_as_the_file_calls_it(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,is_member\na,yes\n")
    assert "line 2, column 'is_member'" in mistake(path, columns={"label": "is_member"})
