"""Draw a training order: which windows are trained, how often and at which step.

Roles are dealt before any training, by chance alone; a text can only be shut out by its date. One
uniform permutation of the windows that can be trained is cut into the strata (seen once, twice, …)
and the rest. A second one mixes all repetitions into one stream, a third orders what comes after
the end. So the windows of all strata and the untrained ones of the same dates are exchangeable: any
two of them could as well have had each other's role, and nothing but the training tells them apart.

Two kinds of orders depend on another one and on a dataset that was cut from it, for control models:
`outside` draws from the windows that neither knows, `exchange` swaps the dataset's members and
non-members (scripts/lab/exchange.py).
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.orders import ORDER
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.lab.dates import within
from scripts.lab.exchange import exchanged, partners, places
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
    """Step: settings `seed`, `order` (its name) and its entry in config/lab.yaml.

    For an order that depends on another one, `--base` is that order and `--pool` the files of the
    dataset: texts and rows aside.
    """
    args = arguments(__doc__, ["corpus", "order"], ["base", "pool"])
    settings = args.settings
    corpus = TEXTS.read(args.corpus, ["text_id", "date"])
    rng = generator(settings["seed"], "order", settings["order"])
    if not args.base:
        table = _drawn(settings, corpus, np.zeros(len(corpus), dtype=bool), rng)
    else:
        base = ORDER.read(args.base[0])
        exposures = np.zeros(len(corpus), dtype=np.int32)
        exposures[base["row"].to_numpy()] = base["exposures"].to_numpy()
        judged, aside = (places(corpus, path) for path in args.pool)
        if "exchange" in settings:
            table = exchanged(base, *partners(exposures, judged, aside, rng))
        else:
            known = exposures > 0
            known[np.concatenate([judged, aside])] = True
            table = _drawn(settings, corpus, known, rng)
    ORDER.write(args.order, table, {"settings": settings, "windows": len(corpus)})


def _drawn(
    settings: dict, corpus: pa.Table, known: np.ndarray, rng: np.random.Generator
) -> pa.Table:
    """The order of an entry in config/lab.yaml; windows that are `known` cannot be trained."""
    name = settings["order"]
    dates = corpus["date"].to_numpy().astype(str)
    eligible = within(dates, settings.get("where", {})) & ~known
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
    return draw(eligible, exposures, windows, settings["batch"], rng)


if __name__ == "__main__":
    run(main)
