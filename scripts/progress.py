"""Progress of long work: a bar on a terminal, a line now and then in a log."""

import sys
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


class _Lines:
    """A stream that ends each refresh of a bar with a newline, so that logs stay readable."""

    def write(self, text: str) -> None:
        text = text.strip("\r\n ")
        if text:
            print(text, file=sys.stderr, flush=True)

    def flush(self) -> None:
        sys.stderr.flush()


def bar(
    iterable: Iterable[T] | None = None,
    *,
    what: str,
    unit: str,
    total: float | None = None,
    initial: float = 0,
    seconds: float = 10,
) -> tqdm:
    """A tqdm bar with rate and time left; off a terminal, one line every `seconds` seconds."""
    terminal = sys.stderr.isatty()
    return tqdm(
        iterable,
        desc=what,
        unit=unit,
        total=total,
        initial=initial,
        unit_scale=True,
        file=None if terminal else _Lines(),
        mininterval=0.1 if terminal else seconds,
        maxinterval=seconds,
        dynamic_ncols=terminal,
    )
