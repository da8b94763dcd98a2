"""The table of costs, and pins."""

import pytest

from scripts.errors import UserError
from scripts.hub.cost import Cost
from scripts.hub.files import small_files, weight_files, weight_index
from scripts.hub.lock import key, read_lock
from scripts.hub.plan import estimate, table


def test_the_table_adds_up_what_is_known():
    rows = [
        Cost("a", 5, 13_500_000_000, 1_000, 10),
        Cost("bb", 2, 500_000_000, 0, 4, gated="accept its terms"),
        Cost("c", None, None, None, None, note="not found"),
    ]
    lines = table(rows).splitlines()
    assert lines[1].split() == ["a", "5", "13.5", "GB", "1.0", "kB", "10"]
    assert lines[2].endswith("4  accept its terms")
    assert lines[3].split() == ["c", "?", "?", "?", "?", "not", "found"]
    assert lines[4].startswith("total of what is known")
    assert lines[4].split()[5:] == ["7", "14.0", "GB", "1.0", "kB", "14"]


def test_an_error_of_one_entry_is_its_note(monkeypatch):
    def fail(name, entry, pins):
        raise UserError("gone")

    monkeypatch.setattr("scripts.hub.costs.model_hub.cost", fail)
    assert estimate("model", "m", {"source": "hub"}, {}).note == "gone"


def test_weights_are_chosen_as_the_loader_does():
    both = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"}
    assert weight_index(both) is None and weight_files(both, None, "m") == ["model.safetensors"]
    names = {"model.safetensors.index.json", "a.safetensors", "b.safetensors", "consolidated.pth"}
    index = {"weight_map": {"x": "b.safetensors", "y": "a.safetensors", "z": "a.safetensors"}}
    assert weight_index(names) == "model.safetensors.index.json"
    assert weight_files(names, index, "m") == ["a.safetensors", "b.safetensors"]
    with pytest.raises(UserError, match=r"incomplete on the hub: no b\.safetensors"):
        weight_files(names - {"b.safetensors"}, index, "m")
    with pytest.raises(UserError, match=r"no model\.safetensors"):
        weight_files({"config.json"}, None, "m")


def test_code_of_the_repository_is_left_out_unless_allowed():
    names = {"config.json", "modeling.py", "README.md"}
    assert small_files(names) == ["config.json"]
    assert small_files(names, code=True) == ["config.json", "modeling.py"]


def test_pins_of_models_and_datasets(tmp_path):
    path = tmp_path / "hub.lock.yaml"
    assert read_lock(path) == {}
    assert key("model", "a/b", "main") == "a/b@main"
    assert key("dataset", "a/b", "main") == "datasets/a/b@main"
    path.write_text(f"a/b@main: {'1234' * 10}\n")
    assert read_lock(path) == {"a/b@main": "1234" * 10}
    path.write_text("a/b@main: step1\n")
    with pytest.raises(UserError, match="expected `id@revision: commit` lines"):
        read_lock(path)
    path.write_text("<<<<<<< HEAD\na/b@main: abc\n")
    with pytest.raises(UserError, match=r"hub\.lock\.yaml line 2: .*restore it"):
        read_lock(path)
