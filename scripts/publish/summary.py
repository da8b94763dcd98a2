"""Print what a study found: one of its tables as plain text, failed checks, the report's path."""

import argparse
import json
import re
import sys
from pathlib import Path

from scripts.cli import run
from scripts.errors import UserError

RED, PLAIN = "\033[31;1m", "\033[0m"
_CELL = re.compile(r"(?<!\\)\|")  # a bar that a backslash does not escape


def main() -> None:
    """Read the study's folder below results/studies/ and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="results/studies/{study}")
    parser.add_argument("--table", help="name of the table; default: the first by name")
    args = parser.parse_args()
    names = sorted(path.stem for path in args.folder.glob("*.md"))
    name = args.table or next(iter(names), None)
    if name not in names:
        raise UserError(f"{args.folder}: no table '{name}'; there are {', '.join(names) or 'none'}")
    print(plain((args.folder / f"{name}.md").read_text(encoding="utf-8")))
    checks = json.loads((args.folder / "sanity.json").read_bytes())
    for line in verdicts(checks):
        print(f"{RED}{line}{PLAIN}" if line.startswith("FAILED") and sys.stdout.isatty() else line)
    print(f"Report: {args.folder / 'report.html'}")


def plain(markdown: str) -> str:
    """A table that formats.to_markdown wrote, for a terminal; of its notes only the first."""
    lines = markdown.replace("**", "").splitlines()
    table = [_CELL.split(line[1:-1]) for line in lines if line.startswith("|")]
    header, rule, *body = [[cell.strip() for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    text = [
        "  ".join(
            cell.rjust(width) if mark.endswith(":") else cell.ljust(width)
            for cell, width, mark in zip(row, widths, rule, strict=True)
        ).rstrip()
        for row in [header, ["-" * width for width in widths], *body]
    ]
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    notes = [line.removeprefix("* ") for line in lines if line.startswith("* ")]
    return "\n".join([*filter(None, lines[:start]), "", *text, "", *notes[:1]])


def verdicts(checks: list[dict]) -> list[str]:
    """A line for each failed check, and one that counts; nothing where there are no checks."""
    failed = [check for check in checks if not check["ok"]]
    lines = [
        f"FAILED: {check['check']}: {check['value']}, bound {check['bound']} ({check['detail']})"
        for check in failed
    ]
    if checks:
        lines.append(f"{len(checks) - len(failed)} of {len(checks)} sanity checks hold.")
    return lines


if __name__ == "__main__":
    run(main)
