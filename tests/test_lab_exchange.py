"""Orders of control models: an OUT model knows nothing of its target, a twin has swapped roles."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from scripts.contracts.orders import ORDER
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.lab.exchange import exchanged, partners
from scripts.lab.order import draw
from scripts.seeds import generator
from tests.workflow import checkout, snakemake

RESULTS = "results/tiny"


def times(order: pa.Table) -> Counter:
    """How often an order trains each window."""
    rows, exposures = order["row"].to_numpy(), order["exposures"].to_numpy()
    return Counter(rows[exposures > 0].tolist())


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny lab's orders, and which windows its pool evaluates and keeps aside."""
    tree = checkout(tmp_path_factory.mktemp("lab") / "tree")
    snakemake(tree, *(f"{RESULTS}/orders/{name}.parquet" for name in ("out", "twin")))
    folder = tree / RESULTS
    ids = TEXTS.read(folder / "corpora/lab.parquet", ["text_id"])["text_id"].to_pylist()
    place = {text_id: row for row, text_id in enumerate(ids)}
    texts = TEXTS.read(folder / "texts/lab-pool/original.parquet").to_pylist()
    aside = TEXTS.read(folder / "aside/lab-pool.parquet").to_pylist()
    orders = {
        name: ORDER.read(folder / f"orders/{name}.parquet") for name in ("lab", "out", "twin")
    }
    footers = {name: provenance(folder / f"orders/{name}.parquet") for name in orders}
    by_label = {
        label: [place[row["text_id"]] for row in texts if row["label"] == label] for label in (0, 1)
    }
    return orders, footers, by_label, {place[row["text_id"]] for row in aside}


def test_the_out_model_sees_nothing_that_the_target_or_its_dataset_knows(tiny):
    orders, footers, by_label, aside = tiny
    target, out = times(orders["lab"]), times(orders["out"])
    assert not set(out) & (set(target) | set(by_label[0]) | set(by_label[1]) | aside)
    # As many windows as the target, as often.
    assert Counter(out.values()) == Counter(target.values())
    assert footers["out"]["settings"]["outside"] == "lab-pool"
    ORDER.check(orders["out"])


def test_the_twin_sees_the_non_members_instead_of_the_members(tiny):
    orders, footers, by_label, aside = tiny
    target, twin = times(orders["lab"]), times(orders["twin"])
    assert not set(twin) & set(by_label[1])
    # The tiny pool has 80 non-members and 80 members that were seen once.
    assert [twin[row] for row in by_label[0]] == [1] * 80
    once = [row for row in by_label[1] if target[row] == 1]
    assert len(once) == 80
    # Slot for slot: they stand exactly where a member seen once stood in the target's order.
    rows = {name: orders[name]["row"].to_numpy() for name in ("lab", "twin")}
    came = np.isin(rows["twin"], by_label[0]) & (orders["twin"]["exposures"].to_numpy() > 0)
    assert sorted(rows["lab"][came]) == sorted(once)
    # Members seen more often made room for windows that the dataset does not know.
    new = set(twin) - set(target) - set(by_label[0])
    assert len(new) == 120 and not new & aside
    assert Counter(twin.values()) == Counter(target.values())
    # All else is the same, rows aside included.
    rest = (set(target) | aside) - set(by_label[1])
    assert all(twin[row] == target[row] for row in rest)
    for name in ("step", "slot", "exposures"):
        assert orders["twin"][name].equals(orders["lab"][name])
    assert footers["twin"]["settings"]["exchange"] == "lab-pool"


def test_an_exchange_twice_is_none():
    rng = generator(1, "order", "test")
    order = draw(np.ones(50, bool), [1, 2], [10, 5], 4, rng)
    leaving, entering = np.array([3, 7]), np.array([9, 20])
    swapped = exchanged(order, leaving, entering)
    assert not swapped.equals(order)
    assert exchanged(swapped, leaving, entering).equals(order)


def test_non_members_come_in_for_the_members_seen_least_often():
    exposures = np.array([8, 1, 2, 1, 0, 0, 0, 0, 0, 1])
    judged, aside = np.array([0, 1, 2, 3, 4, 5]), np.array([6, 9])
    leaving, entering = partners(exposures, judged, aside, np.random.default_rng(0))
    assert exposures[leaving].tolist() == [1, 1, 2, 8]
    assert sorted(entering[:2]) == [4, 5] and sorted(entering[2:]) == [7, 8]
    with pytest.raises(UserError, match="an exchange of 4 members needs as many windows"):
        partners(exposures, judged, np.array([6, 8, 9]), np.random.default_rng(0))
