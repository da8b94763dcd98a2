"""The training order, against brute force."""

import itertools
import json
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from scripts.contracts.orders import ORDER
from scripts.contracts.texts import TEXTS
from scripts.lab.dates import within
from scripts.lab.order import draw
from scripts.seeds import generator

STRATA = {1: 40, 2: 5, 4: 5, 8: 5}  # 40 + 10 + 20 + 40 = 110 slots


def drawn(seed: int, eligible=None) -> pa.Table:
    eligible = np.ones(100, bool) if eligible is None else eligible
    rng = generator(seed, "order", "test")
    return draw(eligible, list(STRATA), list(STRATA.values()), 10, rng)


def test_counts_steps_and_slots_by_hand():
    table = drawn(1)
    ORDER.check(table)
    places, rows = [], defaultdict(list)
    for row in table.to_pylist():
        places.append((row["step"], row["slot"]))
        rows[row["row"]].append((row["step"], row["exposures"]))
    # Full batches of ten, one behind the other, no gap between training and what comes later.
    assert places == [(i // 10, i % 10) for i in range(len(places))]
    assert sorted(rows) == list(range(100))
    dose = Counter()
    for seen in rows.values():
        (exposures,) = {e for _, e in seen}  # one number in all its rows
        steps = [step for step, _ in seen]
        if exposures:
            assert len(seen) == exposures
            assert max(steps) < 11
        else:
            assert len(seen) == 1
            assert steps[0] >= 11
        dose[exposures] += 1
    assert dose == {**STRATA, 0: 45}


def test_only_eligible_windows_are_trained():
    eligible = np.arange(100) % 3 > 0  # 66 windows
    table = drawn(2, eligible)
    trained = table["row"].to_numpy()[table["exposures"].to_numpy() > 0]
    assert eligible[trained].all()
    assert len(set(table["row"].to_pylist())) == 100


def test_same_seed_same_order_other_seed_another():
    assert drawn(3).equals(drawn(3))
    assert not drawn(3).equals(drawn(4))


def test_roles_and_steps_do_not_depend_on_the_place_in_the_corpus():
    """Over many seeds each window has each role as often as any other, and each step.

    Pearson's chi-square against the shares that exchangeability gives. With the fixed seeds here
    the statistics are fixed numbers; the bound is the 99.9 % quantile.
    """
    draws = 2_000
    role = np.zeros((100, len(STRATA) + 1))
    step_sum = np.zeros(100)
    once = np.zeros(100)
    names = [0, *STRATA]
    for seed in range(draws):
        table = drawn(seed)
        rows, exposures, steps = (table[name].to_numpy() for name in ("row", "exposures", "step"))
        of_row = np.zeros(100, int)
        of_row[rows] = exposures
        role[np.arange(100), [names.index(e) for e in of_row]] += 1
        np.add.at(step_sum, rows[exposures == 1], steps[exposures == 1])
        np.add.at(once, rows[exposures == 1], 1)
    share = np.array([45, *STRATA.values()]) / 100
    expected = draws * share
    # Per role, counts over windows: sum (o - e)^2 / (e (1 - share)) is chi-square with 99 degrees.
    for j in range(len(names)):
        statistic = ((role[:, j] - expected[j]) ** 2 / (expected[j] * (1 - share[j]))).sum()
        assert chi2.ppf(0.0005, 99) < statistic * 99 / 100 < chi2.ppf(0.9995, 99)
    # Steps of windows seen once are uniform over 0..10: mean 5, variance (11^2 - 1) / 12.
    z = (step_sum / once - 5) / np.sqrt(10 / once)
    assert np.abs(z).max() < 4.5


def test_two_windows_swap_roles_with_equal_probability():
    """All orders of three windows, two of them trained (once, twice): each as likely."""
    seen = Counter()
    for seed in range(3_000):
        rng = generator(seed, "order", "small")
        table = draw(np.ones(3, bool), [1, 2], [1, 1], 3, rng)
        seen[tuple(table["row"].to_pylist())] += 1
    possible = {
        (*stream, later)
        for once, twice in itertools.permutations(range(3), 2)
        for stream in set(itertools.permutations([once, twice, twice]))
        for later in {0, 1, 2} - {once, twice}
    }
    assert len(possible) == 18
    assert set(seen) == possible
    expected = 3_000 / 18
    statistic = sum((count - expected) ** 2 / expected for count in seen.values())
    assert statistic < chi2.ppf(0.999, 17)


def test_dates():
    dates = np.array(["1945-12-31", "1946-01-01", "1959-12-31", "1960-01-01"])
    assert within(dates, {}).all()
    assert within(dates, {"until": "1945-12-31"}).tolist() == [True, False, False, False]
    assert within(dates, {"since": "1960-01-01"}).tolist() == [False, False, False, True]
    both = within(dates, {"since": "1946-01-01", "until": "1959-12-31"})
    assert both.tolist() == [False, True, True, False]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.parquet"
    table = pa.table(
        {
            "text_id": [f"w{i}" for i in range(30)],
            "text": ["x"] * 30,
            "label": pa.nulls(30, pa.int8()),
            "group": ["g"] * 30,
            "date": ["1900-01-01"] * 20 + ["1970-01-01"] * 10,
        }
    )
    TEXTS.write(path, table, {})
    return path


def step(corpus, out, **changes):
    settings = {
        "seed": 7,
        "order": "dated",
        "corpus": "lab",
        "steps": 4,
        "batch": 3,
        "where": {"until": "1945-12-31"},
        "seen": [{"exposures": 1, "windows": 8}, {"exposures": 2, "windows": 2}],
        **changes,
    }
    command = [sys.executable, "-m", "scripts.lab.order", "--corpus", corpus, "--order", out]
    return subprocess.run(
        [*map(str, command), "--settings", json.dumps(settings)], capture_output=True, text=True
    )


def test_step_trains_old_windows_only_and_is_the_same_bytes_again(corpus, tmp_path):
    for name in ("a", "b"):
        assert step(corpus, tmp_path / name).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    table = ORDER.read(tmp_path / "a")
    trained = table.filter(pa.compute.greater(table["exposures"], 0))
    assert trained.num_rows == 12
    assert max(trained["row"].to_pylist()) < 20
    assert max(trained["step"].to_pylist()) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 5}, "`seen` adds up to 12 trained windows, but steps x batch is 15"),
        (
            {"steps": 7, "seen": [{"exposures": 1, "windows": 21}]},
            "`seen` takes 21 windows, but only 20 can be trained",
        ),
    ],
)
def test_mistakes_in_the_sizes_are_one_line(corpus, tmp_path, changes, message):
    result = step(corpus, tmp_path / "out", **changes)
    assert result.returncode == 1
    line = result.stderr.strip().splitlines()
    assert len(line) == 1
    assert "config/lab.yaml, orders.dated" in line[0]
    assert message in line[0]
    assert not (tmp_path / "out").exists()
