"""What a study will fetch, printed before it does: bytes, requests, and what is gated.

Nothing is downloaded but listings. Settings: models and datasets, name to entry. Kinds without a
file in scripts/hub/costs/ cost nothing.
"""

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence

from scripts.cli import arguments, run
from scripts.errors import UserError
from scripts.hub.cost import Cost
from scripts.hub.errors import NoNetworkError
from scripts.hub.lock import read_lock
from scripts.progress import bar


def main() -> None:
    """Print the costs of all models and datasets of a study."""
    args = arguments(__doc__, ["lock"])
    pins = read_lock(args.lock)
    entries = [
        (kind, name, entry)
        for kind in ("model", "dataset")
        for name, entry in args.settings[f"{kind}s"].items()
        if importlib.util.find_spec(_module(kind, entry))
    ]
    progress = bar(entries, what="asking the hub", unit="entries")
    rows = [estimate(kind, name, entry, pins) for kind, name, entry in progress]
    print(table(rows) if rows else "Nothing to fetch: the study needs no download.")
    sys.stdout.flush()


def estimate(kind: str, name: str, entry: Mapping, pins: Mapping[str, str]) -> Cost:
    """The cost of one entry; an error of the hub becomes its note, so that the others are seen.

    Without a network the first error ends it all.
    """
    try:
        return importlib.import_module(_module(kind, entry)).cost(name, entry, pins)
    except NoNetworkError:
        raise
    except UserError as error:
        return Cost(name, None, None, None, None, note=str(error))


def table(rows: Sequence[Cost]) -> str:
    """The costs as lines of text, with a sum below."""
    lines = [("", "files", "to fetch", "in the cache", "requests", "")]
    lines += [_cells(row) for row in rows]
    known = [row for row in rows if row.bytes is not None]
    total = Cost(
        "total" if len(known) == len(rows) else "total of what is known",
        *(
            sum(getattr(row, field) or 0 for row in known)
            for field in ("files", "bytes", "cached_bytes", "requests")
        ),
    )
    lines.append(_cells(total))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(line[c].rjust(widths[c]) for c in range(1, 5)), line[5]]
        ).rstrip()
        for line in lines
    )


def _cells(cost: Cost) -> tuple[str, ...]:
    remarks = "; ".join(text for text in (cost.gated, cost.note) if text)
    counts = ("?" if n is None else f"{n:,}" for n in (cost.files, cost.requests))
    files, requests = counts
    return cost.name, files, _size(cost.bytes), _size(cost.cached_bytes), requests, remarks


def _size(size: int | None) -> str:
    if size is None:
        return "?"
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size} B"


def _module(kind: str, entry: Mapping) -> str:
    return f"scripts.hub.costs.{kind}_{entry.get('source', 'file')}"


if __name__ == "__main__":
    run(main)
