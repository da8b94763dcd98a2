"""What `make` runs: one study through Snakemake, then its table and the report's path.

It holds a file lock that Snakemake and its jobs inherit as their standard input. So the next call
can tell a run that was killed (it clears Snakemake's own lock and goes on) from a living one, or
from a job that a killed run left behind and that still writes (it says so and touches nothing).
"""

import argparse
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import psutil

from scripts.cli import run
from scripts.errors import UserError

ROOT = Path(__file__).resolve().parents[1]
STATE = Path(".snakemake")  # Snakemake's own folder, in the working directory


def main() -> None:
    """Build the named study in the working directory and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study")
    parser.add_argument("--results", default="results", help="the results tree of the lab size")
    parser.add_argument("--table", default="table_2", help="the table to print")
    args, options = parser.parse_known_args()
    snakemake = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    # Jobs import the checkout by themselves; what this process was started with must not leak.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    STATE.mkdir(exist_ok=True)
    with (STATE / "front.lock").open("a+") as lock:
        hold(lock)
        if any((STATE / "locks").glob("*")):
            print("pretrace: the last run was killed; going on where it was", file=sys.stderr)
            subprocess.run(
                [*snakemake, "--unlock", "--quiet", "all"], check=True, stdin=lock, env=environment
            )
        status = subprocess.run(
            [*snakemake, "--cores", "all", *options, args.study], stdin=lock, env=environment
        ).returncode
    if status:
        raise SystemExit(status)
    folder = Path(args.results) / "studies" / args.study
    subprocess.run(
        [sys.executable, "-m", "scripts.publish.summary", str(folder), "--table", args.table],
        check=True,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )


def hold(lock) -> None:
    """Take the lock of this folder; UserError names the processes that keep it from us."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        others = _running() if any((STATE / "locks").glob("*")) else []
    except BlockingIOError:
        others = _holders(Path(lock.name).resolve()) or ["unknown"]
    if others:
        raise UserError(
            f"another run, or a job that a killed run left behind, is at work in {Path.cwd()} "
            f"(process {', '.join(map(str, others))}); wait for it, or stop it with `kill`"
        )


def _holders(path: Path) -> list[int]:
    """Processes other than this one that have the lock file open."""
    return [
        process.pid
        for process in psutil.process_iter()
        if process.pid != os.getpid() and str(path) in _quietly(process, _open_paths)
    ]


def _running() -> list[int]:
    """Processes of a plain `snakemake` in this folder, which knows nothing of our lock."""
    return [
        process.pid
        for process in psutil.process_iter()
        if process.pid != os.getpid()
        and str(Path.cwd()) in _quietly(process, lambda p: [p.cwd()])
        and any("snakemake" in Path(word).name for word in _quietly(process, _words))
    ]


def _words(process: psutil.Process) -> list[str]:
    return process.cmdline()[:3]


def _open_paths(process: psutil.Process) -> list[str]:
    return [file.path for file in process.open_files()]


def _quietly(process: psutil.Process, ask) -> list[str]:
    try:
        return ask(process)
    except psutil.Error:  # it has ended, or it is another user's
        return []


if __name__ == "__main__":
    run(main)
