"""What every step stands on: atomic outputs, contracts, seeds, one-line errors."""

import errno
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.atomic import replacing
from scripts.contracts.scores import SCORES
from scripts.contracts.table import provenance, release
from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import TOKENS
from scripts.errors import UserError
from scripts.seeds import derive, generator

ROOT = Path(__file__).parents[1]


def scores(ids=("a", "b"), values=(1.0, 2.0)) -> pa.Table:
    return pa.table({"text_id": list(ids), "loss": list(values)})


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "deep/er/file"
    with replacing(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_replaces_a_folder_and_clears_what_a_killed_process_left(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    (tmp_path / ".folder.1.part").mkdir()
    with replacing(path) as temporary:
        temporary.mkdir()
        (temporary / "new").touch()
    assert [p.name for p in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_contract_keeps_provenance_and_bytes(tmp_path):
    for name in ("one", "two"):
        SCORES.write(tmp_path / name, scores(), {"seed": 1, "model": "m"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert SCORES.read(tmp_path / "one").to_pylist() == scores().to_pylist()
    assert provenance(tmp_path / "one") == {
        "kind": "scores",
        "model": "m",
        "release": release(),
        "seed": 1,
    }
    # Any Parquet reader sees the same.
    assert json.loads(pq.read_schema(tmp_path / "one").metadata[b"pretrace"])["seed"] == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (scores(ids=("a", "a")), "not unique"),
        (scores(ids=("a", None)), "text_id has null values"),
        (scores(values=(1.0, None)), "loss has null values"),
        (pa.table({"text_id": ["a"], "loss": [1]}), "loss is int64, not double"),
        (pa.table({"loss": [1.0]}), "columns missing: .'text_id'"),
    ],
)
def test_a_broken_contract_is_not_written(tmp_path, table, message):
    with pytest.raises(ValueError, match=message):
        SCORES.write(tmp_path / "file", table, {})
    assert not list(tmp_path.iterdir())


def test_token_lists_have_one_length_in_each_row():
    columns = {name: [[1.0], [1.0, 2.0]] for name in TOKENS.aligned}
    columns["logprob"] = [[1.0], [1.0]]
    table = pa.table({"text_id": ["a", "b"], "variant": [0, 0], **columns}).cast(TOKENS.required)
    with pytest.raises(ValueError, match="differ in length"):
        TOKENS.check(table)


def test_a_file_of_another_kind_or_half_a_file_is_refused(tmp_path):
    SCORES.write(tmp_path / "file", scores(), {})
    with pytest.raises(UserError, match="file is not a file of texts; remove it"):
        TEXTS.read(tmp_path / "file")
    whole = (tmp_path / "file").read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="half cannot be read"):
        SCORES.read(tmp_path / "half")


def test_seeds_are_what_the_docstring_says():
    # By hand: the first 8 bytes of the digest, without the last bit.
    digest = hashlib.sha256(b"1234\0bootstrap\0lab").hexdigest()
    assert derive(1234, "bootstrap", "lab") == int(digest[:16], 16) // 2
    assert derive(1234, "bootstrap", "lab") != derive(1234, "bootstraplab")
    draws = [generator(1234, "order", name).random() for name in ("a", "a", "b")]
    assert draws[0] == draws[1] != draws[2]


def step(code: str, **options) -> subprocess.CompletedProcess:
    program = (
        f"from scripts.cli import run\nfrom scripts.errors import UserError\n{code}\nrun(main)"
    )
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, **options
    )


def test_a_users_mistake_is_one_line_and_a_bug_a_traceback():
    done = step("def main():\n    raise UserError('a.csv, line 3:\\n  label is 2; use 0 or 1')")
    assert (done.returncode, done.stderr) == (
        1,
        "pretrace: error: a.csv, line 3: label is 2; use 0 or 1\n",
    )
    bug = step("def main():\n    raise KeyError('x')")
    assert bug.returncode == 1 and "Traceback" in bug.stderr


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)])
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        done = step(
            "import pyarrow as pa, random\n"
            "from pathlib import Path\n"
            "from scripts.contracts.scores import SCORES\n"
            "def main():\n"
            "    values = [random.random() for _ in range(100_000)]\n"
            "    table = pa.table({'text_id': [str(v) for v in values], 'loss': values})\n"
            f"    SCORES.write(Path({str(disk / 'scores')!r}), table, {{}})"
        )
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("pretrace: error: the disk is full")
        assert not list(disk.iterdir())
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_other_system_errors_stay_tracebacks():
    done = step(f"def main():\n    raise OSError({errno.EACCES}, 'no', 'x')")
    assert "Traceback" in done.stderr


def test_a_terminated_step_removes_its_temporary_file(tmp_path):
    code = (
        "from pathlib import Path\nimport time\nfrom scripts.atomic import replacing\n"
        "def main():\n"
        f"    with replacing(Path({str(tmp_path / 'file')!r})) as temporary:\n"
        "        temporary.write_text('half')\n        time.sleep(60)"
    )
    program = f"from scripts.cli import run\n{code}\nrun(main)"
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    for _ in range(200):
        if list(tmp_path.iterdir()):
            break
        time.sleep(0.05)
    process.terminate()
    assert process.wait(timeout=30) == 143
    assert not os.listdir(tmp_path)


def test_files_of_a_kind_have_one_schema(tmp_path):
    rows = {"text_id": ["a"], "text": ["A text."], "label": pa.array([1], pa.int8())}
    loose = pa.table({**rows, "group": ["g"]})  # every column may be null
    TEXTS.write(tmp_path / "loose.parquet", loose, {})
    TEXTS.write(tmp_path / "strict.parquet", loose.cast(TEXTS.required), {})
    one, other = (TEXTS.read(tmp_path / f"{name}.parquet") for name in ("loose", "strict"))
    assert one.schema == other.schema == TEXTS.required
