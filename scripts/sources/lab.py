"""Windows of the lab's corpus as members and non-members of a recorded training order."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.contracts.orders import ORDER
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.lab.dates import within
from scripts.seeds import generator
from scripts.sources.loaded import Loaded


def load(inputs: list[Path], settings: dict) -> Loaded:
    """Draw a pool of `settings["strata"]` from ``[corpus, order]``.

    A stratum is windows with its number of `exposures` and within its dates (`where`); `windows`
    of them, drawn uniformly, are texts and up to `aside` further ones are rows aside. Label 1
    means seen in training. `step` is the last step that saw a window or, for one that none saw,
    the step after the end for which it is scheduled. `domain` is the stratum's, where it has one.

    Where the strata differ in their dates, a classifier that has read other windows of a speech
    knows its label: there `speeches_aside` is the share of speeches that only serve as rows aside,
    and all other speeches are only evaluated.
    """
    corpus, order = inputs
    table = TEXTS.read(corpus)
    exposures, step = last_seen(ORDER.read(order), table.num_rows)
    dates = table["date"].to_numpy().astype(str)
    name = settings["dataset"]
    rng = generator(settings["seed"], "pool", name)
    domain = np.full(table.num_rows, None, dtype=object)
    kept_aside = speeches_aside(table["group"], settings.get("speeches_aside", 0), rng)
    texts, aside = [], []
    for number, stratum in enumerate(settings["strata"]):
        eligible = (exposures == stratum["exposures"]) & within(dates, stratum.get("where", {}))
        rows = rng.permutation(np.flatnonzero(eligible))
        judged = rows[~kept_aside[rows]]
        wanted = stratum["windows"]
        if len(judged) < wanted:
            raise UserError(
                f"config/lab.yaml, pools.{settings['pool']}.strata, entry {number + 1}: "
                f"{wanted} windows wanted, {len(judged)} are there; lower `windows`"
            )
        domain[rows] = stratum.get("domain")
        texts.append(judged[:wanted])
        aside.append(
            (rows[kept_aside[rows]] if kept_aside.any() else judged[wanted:])[: stratum["aside"]]
        )
    columns = {
        "label": pa.array((exposures > 0).astype(np.int8)),
        "step": pa.array(step),
        "exposures": pa.array(exposures),
        "domain": pa.array(domain, pa.string()),
    }
    if not any("domain" in stratum for stratum in settings["strata"]):
        del columns["domain"]
    table = table.drop_columns("label")
    for column, values in columns.items():
        table = table.append_column(column, values)
    source = provenance(corpus)
    return Loaded(
        # In the order of the corpus, whatever the strata.
        texts=table.take(np.sort(np.concatenate(texts))),
        aside=table.take(np.sort(np.concatenate(aside))),
        provenance={
            "corpus": source["source"],
            "tokenizer": source["tokenizer"],
            "order": provenance(order)["settings"],
        },
    )


def speeches_aside(group: pa.ChunkedArray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which windows belong to the `share` of speeches that are kept aside, bool [windows]."""
    speeches = np.unique(group.to_numpy().astype(str))
    chosen = rng.permutation(speeches)[: round(share * len(speeches))]
    return np.isin(group.to_numpy().astype(str), chosen)


def last_seen(order: pa.Table, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Per window of the corpus: times trained and the last step it stands at, int32 [windows]."""
    rows = order["row"].to_numpy()
    exposures = np.zeros(windows, dtype=np.int32)
    exposures[rows] = order["exposures"].to_numpy()
    step = np.full(windows, -1, dtype=np.int32)
    np.maximum.at(step, rows, order["step"].to_numpy())
    return exposures, step
