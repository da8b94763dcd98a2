"""Load the texts of a dataset from its source into ``results/texts`` and ``results/aside``."""

import importlib
import sys

import pyarrow as pa
import pyarrow.compute as pc

from scripts.cli import arguments, run
from scripts.contracts.texts import TEXTS


def summary(texts: pa.Table) -> str:
    """Counts of a table of texts, for the log."""
    label = texts["label"]
    members = pc.sum(label, min_count=0).as_py()
    unknown = label.null_count
    groups = pc.count_distinct(texts["group"]).as_py()
    return (
        f"{texts.num_rows} texts in {groups} groups: {members} members, "
        f"{texts.num_rows - members - unknown} non-members, {unknown} of unknown label"
    )


def main() -> None:
    """Read the source's files, write the texts to evaluate and the rows aside."""
    args = arguments(__doc__, ["texts", "aside"], ["inputs"])
    dataset = args.settings["dataset"]
    source = importlib.import_module(f"scripts.sources.{args.settings['source']}")
    loaded = source.load(args.inputs, args.settings)
    provenance = {
        "dataset": dataset,
        "source": args.settings["source"],
        **loaded.provenance,
    }
    TEXTS.write(args.texts, loaded.texts, provenance)
    TEXTS.write(args.aside, loaded.aside, provenance)
    print(f"{dataset}: {summary(loaded.texts)}", file=sys.stderr)
    print(f"{dataset}, aside: {summary(loaded.aside)}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
