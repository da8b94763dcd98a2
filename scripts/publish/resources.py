"""Seconds and memory of each stage, from the benchmark files that Snakemake writes."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stage:
    """All jobs of one rule: wall and CPU seconds summed, the largest memory of any in MB."""

    name: str
    jobs: int
    seconds: float
    cpu_seconds: float
    peak_mb: float


def stages(folder: Path, jobs: Iterable[str]) -> list[Stage]:
    """The stages below ``results/benchmarks``: one per folder or file in it, by name.

    A job that was too short for Snakemake to measure counts with what is known of it.
    """
    files: dict[str, list[Path]] = {}
    for job in sorted(jobs):
        path = folder / f"{job}.tsv"
        if path.is_file():
            files.setdefault(job.partition("/")[0], []).append(path)
    return [_stage(name, paths) for name, paths in files.items()]


def _stage(name: str, paths: list[Path]) -> Stage:
    runs = [run for path in paths for run in _runs(path)]
    return Stage(
        name,
        jobs=len(runs),
        seconds=sum(_number(run, "s") for run in runs),
        cpu_seconds=sum(_number(run, "cpu_time") for run in runs),
        peak_mb=max((_number(run, "max_rss") for run in runs), default=0.0),
    )


def _runs(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t")


def _number(run: dict[str, str], column: str) -> float:
    try:
        return float(run[column])
    except (KeyError, TypeError, ValueError):  # "-" or "NA": not measured
        return 0.0
