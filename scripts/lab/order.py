"""Draw a training order: which windows are trained, how often and at which step.

Roles are dealt before any training, by chance alone; a text can only be shut out by its date. One
uniform permutation of the windows that can be trained is cut into the strata (seen once, twice, …)
and the rest. A second one mixes all repetitions into one stream, a third orders what comes after
the end. So the windows of all strata and the untrained ones of the same dates are exchangeable: any
two of them could as well have had each other's role, and nothing but the training tells them apart.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.orders import ORDER
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.lab.dates import within
from scripts.seeds import generator


def draw(
    eligible: np.ndarray,
    exposures: Sequence[int],
    windows: Sequence[int],
    batch: int,
    rng: np.random.Generator,
) -> pa.Table:
    """Table ORDER of all windows; `eligible` (bool, one per window) says which can be trained.

    ``windows[i]`` windows are trained ``exposures[i]`` times each. Windows that are trained more
    than once may come twice in one batch, as in any stream of independent draws.
    """
    total = int(np.dot(exposures, windows))
    if total % batch:
        raise ValueError(f"{total} trained windows do not fill batches of {batch}")
    dealt = rng.permutation(np.flatnonzero(eligible))[: sum(windows)]
    times = np.zeros(len(eligible), dtype=np.int32)
    times[dealt] = np.repeat(exposures, windows)
    stream = rng.permutation(np.repeat(dealt, times[dealt]))
    rows = np.concatenate([stream, rng.permutation(np.flatnonzero(times == 0))])
    place = np.arange(len(rows))
    columns = (place // batch, place % batch, rows, times[rows])
    return pa.table(
        [pa.array(column.astype(np.int32)) for column in columns], schema=ORDER.required
    )


def main() -> None:
    """Step: settings `seed`, `order` (its name) and its entry in config/lab.yaml."""
    args = arguments(__doc__, ["corpus", "order"])
    settings = args.settings
    name = settings["order"]
    dates = TEXTS.read(args.corpus, ["date"])["date"].to_numpy().astype(str)
    eligible = within(dates, settings.get("where", {}))
    exposures = [stratum["exposures"] for stratum in settings["seen"]]
    windows = [stratum["windows"] for stratum in settings["seen"]]
    if np.dot(exposures, windows) != settings["steps"] * settings["batch"]:
        raise UserError(
            f"config/lab.yaml, orders.{name}: `seen` adds up to {np.dot(exposures, windows)} "
            f"trained windows, but steps x batch is {settings['steps'] * settings['batch']}; "
            "change one of them"
        )
    if sum(windows) > eligible.sum():
        raise UserError(
            f"config/lab.yaml, orders.{name}: `seen` takes {sum(windows)} windows, but only "
            f"{eligible.sum()} can be trained; lower its numbers"
        )
    rng = generator(settings["seed"], "order", name)
    table = draw(eligible, exposures, windows, settings["batch"], rng)
    ORDER.write(args.order, table, {"settings": settings, "windows": len(dates)})


if __name__ == "__main__":
    run(main)
