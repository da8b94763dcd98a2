"""Pins of config/hub.lock.yaml as something that a rule can depend on.

A plain param of the pin would change when the first run writes it, and rerun everything. So what
is fetched keeps the param that it was planned with, and that stays its param for as long as the
pin is the commit that it holds.
"""

import json
from functools import cache
from pathlib import Path

from scripts.hub.lock import key, read_lock

PLANNED = ".pin"  # beside hub.json


def planned_pin(lock: Path, folder: Path, kind: str, repo: str, revision: str) -> str:
    """The param of the pin of a model or dataset (its `kind`): changes when, and only when, the pin
    is another commit than the one in `folder`.
    """
    pin = _pins(lock).get(key(kind, repo, revision), "")
    try:
        fetched = json.loads((folder / "hub.json").read_bytes())["commit"]
        planned = (folder / PLANNED).read_text()
    except FileNotFoundError:
        return pin
    return planned if pin in ("", fetched) else pin


_pins = cache(read_lock)
