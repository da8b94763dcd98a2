"""What it costs to fetch something."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """The cost of one model or dataset, in files, bytes and requests.

    `bytes` are still to be fetched, `cached_bytes` are there already; `requests` is how many the
    fetch will make. None where it is not known without fetching. `gated` says what the user must do
    first, "" if nothing; `note` whatever else is worth knowing, e.g. why a number is not known.
    """

    name: str
    files: int | None
    bytes: int | None
    cached_bytes: int | None
    requests: int | None
    gated: str = ""
    note: str = ""
