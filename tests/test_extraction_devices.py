"""Local passes lock one GPU each; where CUDA_VISIBLE_DEVICES is set, someone else has chosen."""

from types import SimpleNamespace

import pytest
import torch

from scripts.errors import UserError
from scripts.extraction.devices import acquired
from scripts.models.transformers import too_large


@pytest.fixture
def two_gpus(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda number: None)


def test_each_pass_gets_its_own_gpu(two_gpus):
    with acquired("auto") as first:
        with acquired("cuda") as second:
            assert {first.index, second.index} == {0, 1}
        with acquired("cuda") as third:
            assert third.index == second.index


def test_a_third_pass_waits_for_one(two_gpus, monkeypatch):
    first, second = acquired("cuda"), acquired("cuda")
    first.__enter__()
    held = second.__enter__()
    waited = []

    def release(seconds):
        waited.append(seconds)
        second.__exit__(None, None, None)

    monkeypatch.setattr("scripts.extraction.devices.time.sleep", release)
    with acquired("cuda") as third:
        assert third.index == held.index and len(waited) == 1
    first.__exit__(None, None, None)


def test_a_chosen_device_is_not_locked(two_gpus, monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    with acquired("auto") as device:
        assert device == torch.device("cuda")
    assert not list(tmp_path.iterdir())


def test_cpu_and_missing_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for wanted in ("auto", "cpu"):
        with acquired(wanted) as device:
            assert device == torch.device("cpu")
    for wanted in ("cuda", "mps", "tpu"):
        with pytest.raises(UserError, match=f"device: {wanted} is not there"):
            acquired(wanted).__enter__()


def test_only_what_does_not_fit_on_one_device_is_spread(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").write_bytes(bytes(1000))
    halves = SimpleNamespace(dtype=torch.float16)
    device = torch.device("cuda", 0)

    def spread(dtype, memory):
        found = SimpleNamespace(total_memory=memory)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: found)
        return too_large(tmp_path, dtype, halves, device)

    # 1,000 bytes in 16 bits: 2,000 in fp32, 500 in int8, 250 in nf4; 85 % of a device are usable.
    assert [spread("float16", memory) for memory in (1177, 1176)] == [False, True]
    assert [spread("float32", memory) for memory in (2353, 2352)] == [False, True]
    assert [spread("int8", memory) for memory in (589, 588)] == [False, True]
    assert [spread("nf4", memory) for memory in (295, 294)] == [False, True]
