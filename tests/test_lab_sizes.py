"""config/lab.yaml: the sizes have the same names and steps, and add up."""

from pathlib import Path

import pytest
import yaml

SIZES = yaml.safe_load((Path(__file__).parents[1] / "config/lab.yaml").read_text())


@pytest.mark.parametrize("size", ["tiny", "large"])
def test_every_size_has_the_names_steps_and_strata_of_the_default(size):
    default, other = SIZES["default"], SIZES[size]
    assert other.keys() == default.keys()
    for part in ("corpora", "orders", "pools"):
        assert other[part].keys() == default[part].keys()
    assert other["trainings"].keys() >= default["trainings"].keys()
    for name, training in default["trainings"].items():
        for key in ("order", "checkpoints"):
            assert other["trainings"][name][key] == training[key]
    for name, order in default["orders"].items():
        for key in ("corpus", "steps", "where", "outside", "exchange"):
            assert other["orders"][name].get(key) == order.get(key)
        seen = (sizes["orders"][name].get("seen", []) for sizes in (other, default))
        for mine, theirs in zip(*seen, strict=True):
            assert mine["exposures"] == theirs["exposures"]
    for name, pool in default["pools"].items():
        for mine, theirs in zip(other["pools"][name]["strata"], pool["strata"], strict=True):
            drop = ("windows", "aside")
            assert {key: mine[key] for key in mine if key not in drop} == {
                key: theirs[key] for key in theirs if key not in drop
            }


@pytest.mark.parametrize("size", SIZES)
def test_numbers_add_up(size):
    lab = SIZES[size]
    drawn = {name: order for name, order in lab["orders"].items() if "exchange" not in order}
    for order in drawn.values():
        slots = sum(stratum["exposures"] * stratum["windows"] for stratum in order["seen"])
        assert slots == order["steps"] * order["batch"]
    for training in lab["trainings"].values():
        assert training["hidden"] % training["heads"] == 0
        # A twin has the order of its target, with other windows in it.
        order = drawn.get(training["order"], drawn["lab"])
        assert training["checkpoints"][-1] == order["steps"]


@pytest.mark.parametrize("size", SIZES)
def test_control_models_are_trained_like_their_target(size):
    lab = SIZES[size]
    target, out, twin = (lab["trainings"][f"lab-{name}2.6m"] for name in ("", "out-", "twin-"))
    shape = ("hidden", "layers", "heads", "learning_rate")
    assert {key: out[key] for key in shape} == {key: target[key] for key in shape}
    assert {key: twin[key] for key in shape} == {key: target[key] for key in shape}
    assert twin["initial"] == "lab-2.6m"
    if size != "large":  # its corpus holds no more windows that nothing else knows
        assert lab["orders"]["out"]["seen"] == lab["orders"]["lab"]["seen"]
    for pool in lab["pools"].values():
        seen = {s["exposures"]: s["windows"] for s in lab["orders"][pool["order"]]["seen"]}
        for stratum in pool["strata"]:
            if stratum["exposures"]:
                assert stratum["windows"] + stratum["aside"] <= seen[stratum["exposures"]]
