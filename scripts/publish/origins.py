"""Where results come from: what files say of the models and datasets behind them."""

import json
from collections.abc import Sequence
from pathlib import Path

from scripts.contracts.table import provenance

Facts = dict[str, object]
PASS = ("backend", "access", "endpoint", "hub", "gguf", "dtype", "device", "tokenizer")


def origins(metrics: Sequence[Path], trainings: Sequence[Path]) -> tuple[dict[str, Facts], ...]:
    """What is known of each model and of each dataset that texts were read for.

    `metrics` are METRICS or CALIBRATION files, whose footers tell how their scores came about;
    `trainings` the records that a training leaves in the folder of a model.
    """
    # All attacks on a model and a dataset share one pass.
    one_each = {path.parent: path for path in metrics}
    models: dict[str, Facts] = {}
    datasets: dict[str, Facts] = {}
    for path in one_each.values():
        found = provenance(path).get("scores", {}).get("tokens", {})
        model, dataset = path.parent.parent.name, found.get("dataset", path.parent.name)
        models.setdefault(model, {}).update({key: found[key] for key in PASS if key in found})
        texts = found.get("texts", {})
        datasets.setdefault(dataset, {}).update(
            {key: value for key, value in texts.items() if key not in ("kind", "dataset")}
        )
    for path in trainings:
        models.setdefault(path.parent.name, {})["training"] = json.loads(path.read_bytes())
    return models, datasets
