"""Helpers of the tests that run Snakemake: a copy of the checkout and the command line."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ["Snakefile", "pyproject.toml", "rules", "scripts", "config", "envs", "profiles", "report"]

# Not what pytest or a surrounding make was started with.
ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if not key.startswith(("PYTHON", "MAKE", "MFLAGS"))
}


@contextmanager
def asking(endpoint: str, cache: Path) -> Iterator[pytest.MonkeyPatch]:
    """Snakemake asks the hub at `endpoint` and keeps files in `cache`; nothing of the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        for key in [key for key in ENVIRONMENT if key.startswith("HF_")]:
            patch.delitem(ENVIRONMENT, key)
        patch.setitem(ENVIRONMENT, "HF_ENDPOINT", endpoint)
        patch.setitem(ENVIRONMENT, "HF_HUB_CACHE", str(cache))
        yield patch


def checkout(folder: Path) -> Path:
    """A copy of the project's own files, without results."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    return folder


def snakemake(tree: Path, *options: str, cwd: Path | None = None, ok: bool = True, **config):
    """Run Snakemake on the tiny lab of a checkout; the finished process with its output."""
    values = {"lab_size": "tiny", **config}
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(tree / "Snakefile")]
    command += ["--cores", "2", *options]
    command += ["--config", *(f"{key}={value}" for key, value in values.items())]
    done = run(command, cwd or tree)
    if ok:
        assert done.returncode == 0, done.stdout[-4000:]
    return done


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess:
    """Run a command; `stdout` holds all that a user sees on the screen, in its order."""
    return subprocess.run(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )


def planned(tree: Path, target: str = "lab") -> set[str]:
    """Outputs of the jobs that a dry run would start, relative to the results tree."""
    text = snakemake(tree, "-n", target).stdout
    outputs = re.findall(r"^    output: (.*)$", text, re.M)
    return {path.removeprefix("results/tiny/") for line in outputs for path in line.split(", ")}


def last_line(done) -> str:
    """The last line on the user's screen."""
    return done.stdout.strip().splitlines()[-1]
