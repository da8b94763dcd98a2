"""How much of the lab is the seed: the smallest model under several seeds, as a Markdown table.

``python -m benchmarks.seeds FOLDER`` trains and judges it once per seed, each in its own folder
below FOLDER (a few minutes of CPU each), and prints the AUC of each setting on each dataset.
"""

import subprocess
import sys
from pathlib import Path

from scripts.contracts.metrics import METRICS

ROOT = Path(__file__).resolve().parents[1]
SEEDS = (1234, 1, 2, 3, 4)
MODEL = "lab-0.36m-step600"
DATASETS = ("lab-checkpoint", "lab-exposure-2", "lab-exposure-4", "lab-exposure-8")
SETTINGS = {
    "loss": "loss",
    "min_k": "min_k(ratio=0.2)",
    "min_k_plus_plus": "min_k_plus_plus(ratio=0.2)",
    "gap_k": "gap_k(window=6,ratio=0.2)",
}


def aucs(folder: Path, seed: int) -> dict[tuple[str, str], float]:
    """AUC by (attack, dataset) under one seed; built in `folder` where it is not there yet."""
    paths = {
        (attack, dataset): f"results/metrics/{MODEL}/{dataset}/{attack}.parquet"
        for attack in SETTINGS
        for dataset in DATASETS
    }
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--directory", str(folder), *paths.values(), "--quiet", "all"]
    subprocess.run([*command, "--config", f"seed={seed}"], check=True, stdout=sys.stderr)
    found = {}
    for (attack, dataset), path in paths.items():
        rows = METRICS.read(folder / path, ["setting", "auc"]).to_pylist()
        found[attack, dataset] = {row["setting"]: row["auc"] for row in rows}[SETTINGS[attack]]
    return found


def main() -> None:
    """Print a row per seed and attack."""
    folder = Path(sys.argv[1])
    print("| seed | setting |", " | ".join(DATASETS), "|")
    print("| --- | --- |", " | ".join("---" for _ in DATASETS), "|")
    for seed in SEEDS:
        found = aucs(folder / str(seed), seed)
        for attack, setting in SETTINGS.items():
            row = " | ".join(f"{found[attack, dataset]:.3f}" for dataset in DATASETS)
            print(f"| {seed} | `{setting}` | {row} |", flush=True)


if __name__ == "__main__":
    main()
