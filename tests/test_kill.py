"""Killed runs: the next one goes on and ends with the same bytes; a living one is left alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.workflow import ENVIRONMENT, checkout, last_line

pytestmark = pytest.mark.xdist_group("kill")

STUDY = """\
title: Small
blocks:
  - {models: [lab-2.6m-step600], datasets: [lab-seen-1], attacks: [loss]}
"""
KEPT = [
    "models/lab-2.6m-step600/model.safetensors",
    "tokens/lab-2.6m-step600/lab-pool/original.parquet",
    "metrics/lab-2.6m-step600/lab-seen-1/loss.parquet",
    "studies/small/attacks.csv",
]


def tree(folder: Path) -> Path:
    made = checkout(folder)
    (made / "config/studies/small.yaml").write_text(STUDY)
    return made


def start(folder: Path) -> subprocess.Popen:
    """What `make` runs, on a small study."""
    command = [sys.executable, "-m", "scripts.front", "small", "--table", "attacks"]
    command += ["--results", "results/tiny", "--config", "lab_size=tiny", "--"]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen) -> subprocess.CompletedProcess:
    output, _ = process.communicate(timeout=600)
    return subprocess.CompletedProcess(process.args, process.returncode, output, "")


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "results/tiny" / name).read_bytes() for name in KEPT}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tree(tmp_path_factory.mktemp("undisturbed") / "pretrace")
    done = finish(start(folder))
    assert done.returncode == 0, done.stdout[-3000:]
    assert "report.html" in last_line(done)
    return contents(folder)


def wait_for(folder: Path, step: str) -> list[psutil.Process]:
    """Wait until a job of this step is at work in the folder; its processes."""
    for _ in range(1200):
        found = at_work(folder, step)
        # Loaded and started, not just on its way: the step has made its unfinished folder.
        if found and any((folder / "results/tiny").rglob(".*unfinished*")):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{step} never started")


def at_work(folder: Path, *words: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and set(words) <= set(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("step", ["scripts.lab.train", "scripts.tokens"])
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(step, undisturbed, tmp_path):
    folder = tree(tmp_path / "pretrace")
    first = start(folder)
    orphans = wait_for(folder, step)
    for process in psutil.Process(first.pid).children():  # snakemake itself, not its jobs
        process.send_signal(signal.SIGKILL)
    assert finish(first).returncode != 0

    # While the orphan still writes, another call says so and touches nothing.
    for orphan in orphans:
        orphan.suspend()
    done = finish(start(folder))
    assert done.returncode != 0
    assert "a job that a killed run left behind" in last_line(done)
    assert str(orphans[0].pid) in last_line(done)

    for orphan in orphans:
        orphan.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not at_work(folder, step):
            break
        time.sleep(0.05)
    done = finish(start(folder))
    assert done.returncode == 0, done.stdout[-3000:]
    assert "going on where it was" in done.stdout
    assert contents(folder) == undisturbed


def test_a_living_run_is_left_alone(tmp_path):
    folder = tree(tmp_path / "pretrace")
    first = start(folder)
    wait_for(folder, "scripts.lab.train")
    before = sorted(path for path in (folder / "results").rglob("*"))
    second = finish(start(folder))
    assert second.returncode != 0
    assert last_line(second).startswith("pretrace: error: another run")
    assert set(before) <= set((folder / "results").rglob("*"))
    assert first.poll() is None
    for process in [*psutil.Process(first.pid).children(recursive=True), first]:
        process.send_signal(signal.SIGKILL)
    first.wait()


def test_a_plain_snakemake_run_is_left_alone(tmp_path):
    """It knows nothing of the front's lock, but Snakemake's own lock and its process tell."""
    folder = tree(tmp_path / "pretrace")
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "2",
        "small",
        "--config",
        "lab_size=tiny",
    ]
    first = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(folder, "scripts.lab.train")
    second = finish(start(folder))
    assert second.returncode != 0
    assert str(first.pid) in last_line(second)
    for process in [*psutil.Process(first.pid).children(recursive=True), first]:
        process.send_signal(signal.SIGKILL)
    first.wait()
    assert os.path.isdir(folder / ".snakemake/locks")
