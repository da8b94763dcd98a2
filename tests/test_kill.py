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
    # More texts than the tiny lab has, so that a pass lasts long enough to be killed in it.
    lab = (made / "config/lab.yaml").read_text()
    (made / "config/lab.yaml").write_text(lab.replace("windows: 80,", "windows: 800,"))
    return made


class Run(subprocess.Popen):
    """What `make` runs, on a small study. Its screen is a file of its own: orphans write on."""

    def __init__(self, folder: Path):
        command = [sys.executable, "-m", "scripts.front", "small", "--table", "attacks"]
        command += ["--results", "results/tiny", "--config", "lab_size=tiny", "--"]
        self.screen = folder / f"screen-{len(list(folder.glob('screen-*')))}.txt"
        with self.screen.open("w") as screen:
            super().__init__(
                command, cwd=folder, env=ENVIRONMENT, stdout=screen, stderr=subprocess.STDOUT
            )

    def finish(self) -> subprocess.CompletedProcess:
        """Wait for its end."""
        status = self.wait(timeout=600)
        return subprocess.CompletedProcess(self.args, status, self.screen.read_text())


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "results/tiny" / name).read_bytes() for name in KEPT}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tree(tmp_path_factory.mktemp("undisturbed") / "pretrace")
    done = Run(folder).finish()
    assert done.returncode == 0, done.stdout[-3000:]
    assert "report.html" in last_line(done)
    return contents(folder)


def wait_for(folder: Path, step: str) -> list[psutil.Process]:
    """Wait until a job of this step is past its start, with unfinished work on disk; stop it."""
    unfinished = {
        "scripts.lab.train": "models/.*unfinished*/*",
        "scripts.tokens": "tokens/*/*/.*unfinished*/*",
    }[step]
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if any((folder / "results/tiny").glob(unfinished)):
            found = at_work(folder, step)
            for process in found:
                process.suspend()
            return found
        time.sleep(0.005)
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
    first = Run(folder)
    orphans = wait_for(folder, step)
    for process in psutil.Process(first.pid).children():  # snakemake itself, not its jobs
        process.send_signal(signal.SIGKILL)
    assert first.finish().returncode != 0

    # As long as the orphan lives, another call says so and touches nothing.
    done = Run(folder).finish()
    assert done.returncode != 0
    assert "a job that a killed run left behind" in last_line(done)
    assert str(orphans[0].pid) in last_line(done)

    for orphan in orphans:
        orphan.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not at_work(folder, step):
            break
        time.sleep(0.05)
    done = Run(folder).finish()
    assert done.returncode == 0, done.stdout[-3000:]
    assert "going on where it was" in done.stdout
    assert contents(folder) == undisturbed


def test_a_living_run_is_left_alone(tmp_path):
    folder = tree(tmp_path / "pretrace")
    first = Run(folder)
    wait_for(folder, "scripts.lab.train")
    before = sorted(path for path in (folder / "results").rglob("*"))
    second = Run(folder).finish()
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
    second = Run(folder).finish()
    assert second.returncode != 0
    assert str(first.pid) in last_line(second)
    for process in [*psutil.Process(first.pid).children(recursive=True), first]:
        process.send_signal(signal.SIGKILL)
    first.wait()
    assert os.path.isdir(folder / ".snakemake/locks")
