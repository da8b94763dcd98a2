"""Conditions on dates, the same for orders and pools."""

from collections.abc import Mapping

import numpy as np


def within(dates: np.ndarray, where: Mapping[str, str]) -> np.ndarray:
    """Which ISO dates lie from `where["since"]` to `where["until"]`, both inclusive and optional.

    `dates` are strings; ISO dates sort like their days.
    """
    chosen = np.ones(len(dates), dtype=bool)
    if "since" in where:
        chosen &= dates >= where["since"]
    if "until" in where:
        chosen &= dates <= where["until"]
    return chosen
