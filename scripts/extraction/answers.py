"""Answers kept as they come, so that nothing is asked for twice after a kill."""

import json
from collections.abc import Sequence
from pathlib import Path


class Answers:
    """Rows of numbers by the number of their prompt, in one file to which lines are added."""

    def __init__(self, path: Path):
        self.found: dict[int, list[list[float]]] = {}
        path.touch()
        with path.open("rb+") as file:
            whole = file.read().rpartition(b"\n")[0]
            # A line that a kill cut short does not count.
            file.truncate(len(whole) + 1 if whole else 0)
        for line in whole.splitlines():
            number, rows = json.loads(line)
            self.found[number] = rows
        self._path = path

    def keep(self, number: int, rows: Sequence[Sequence[float]]) -> None:
        """Keep the answer to a prompt."""
        self.found[number] = [list(row) for row in rows]
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([number, self.found[number]]) + "\n")
