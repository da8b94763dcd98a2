"""What a released code's reading of an attack changes on the lab, as the table of docs/readings.md.

``python -m benchmarks.readings FOLDER`` builds the scores of the lab's largest model in FOLDER
(half an hour of CPU the first time) and writes the table into docs/readings.md, between its marks.
"""

import subprocess
import sys
from pathlib import Path

from scripts.contracts.scores import SCORES
from scripts.contracts.table import provenance
from scripts.evaluation.delong import auc_errors, paired
from scripts.evaluation.inputs import read_sample, read_scores

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "readings.md"
MARKS = ("<!-- made by python -m benchmarks.readings -->\n", "<!-- end -->")
MODEL, POOL = "lab-2.6m-step600", "lab-pool"
DATASETS = {"lab-checkpoint": "seen once", "lab-exposure-8": "seen 8 times"}
# The paper's reading, then those of released codes.
READINGS = {
    "min_k(ratio=0.2)": ["min_k_released(ratio=0.2,reading=released)"],
    "max_k(ratio=0.2)": ["max_k_released(ratio=0.2,reading=released)"],
    "min_k_plus_plus(ratio=0.2)": [
        "min_k_plus_plus_released(ratio=0.2,reading=released)",
        "min_k_plus_plus_unweighted(ratio=0.2,moments=vocabulary,reading=released)",
    ],
    "zlib": ["zlib_released(form=length)", "zlib_released(form=sum)"],
    "dc_pdd(a=0.01)": ["dc_pdd_released(a=0.01,reading=released)"],
    "recall_short(reading=paper)": ["recall_short(reading=released)"],
    "tag_tab(k=4)": [
        "tag_tab_reading(k=4,tokens=first)",
        "tag_tab_reading(k=4,pool=text)",
        "tag_tab_released(tokens=all,k=4)",
        "tag_tab_released(tokens=first,k=4)",
        "tag_tab_random(k=4,draws=5)",
    ],
}


def main() -> None:
    """Write the table into docs/readings.md."""
    folder = Path(sys.argv[1])
    settings = [setting for paper, others in READINGS.items() for setting in (paper, *others)]
    scores = {name.partition("(")[0]: folder / _scores(name.partition("(")[0]) for name in settings}
    targets = [*map(_scores, scores), *map(_texts, DATASETS)]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--cores", "all", "--directory", str(folder), *targets, "--quiet", "all"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(before + MARKS[0] + table(folder, scores) + MARKS[1] + after)


def table(folder: Path, scores: dict[str, Path]) -> str:
    """A row per setting: AUC and SE, and its difference to the paper's reading, by dataset."""
    samples = {name: read_sample(folder / _texts(name), name) for name in DATASETS}
    titles = [f"{title} | less paper's" for title in DATASETS.values()]
    lines = [
        f"| setting | {' | '.join(titles)} | by rule |",
        "| --- " * (2 * len(titles) + 2) + "|",
    ]
    for paper, others in READINGS.items():
        for setting in (paper, *others):
            cells = []
            for ids, sample in samples.values():
                row, reference = (
                    read_scores(scores[name.partition("(")[0]], ids, [name])
                    for name in (setting, paper)
                )
                [auc], [error] = auc_errors(row, sample)
                cells.append(f"{auc:.3f} ± {error:.3f}")
                [difference], [error] = paired(row, reference[0], sample)
                cells.append("" if setting == paper else f"{difference:+.3f} ± {error:.3f}")
            path = scores[setting.partition("(")[0]]
            share = provenance(path)["fallback"][setting] / SCORES.read(path, ["text_id"]).num_rows
            lines.append(f"| `{setting}` | {' | '.join(cells)} | {share:.1%} |")
    return "\n".join(lines) + "\n"


def _scores(attack: str) -> str:
    return f"results/scores/{MODEL}/{POOL}/{attack}.parquet"


def _texts(dataset: str) -> str:
    return f"results/texts/{dataset}/original.parquet"


if __name__ == "__main__":
    main()
