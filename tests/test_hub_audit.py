"""Branches that hold another step's weights are found from listings alone."""

import json
import shutil

import pytest

from scripts.hub.audit import compared, is_last
from tests.hub import Hub
from tests.hub_models import write_model
from tests.test_hub_fetch import User

CODE = "import scripts.hub.audit as audit, scripts.cli as cli\ncli.run(audit.main)\n"
STEPS = {"main": "m", "step1000": "a", "step2000": "b", "step143000": "m"}


@pytest.fixture
def hub(tmp_path):
    with Hub(tmp_path / "hub") as hub:
        for seed, revision in enumerate(["main", "step1000", "step2000", "step3000"]):
            write_model(hub.revision("models", "ns/tiny", revision), seed)
        yield hub


def copy(hub: Hub, name: str, source: str, target: str) -> None:
    """Put a file of branch `source` on branch `target`, too, which stays a commit of its own."""
    paths = [hub.revision("models", "ns/tiny", branch) / name for branch in (source, target)]
    shutil.copy(*paths)


def audit(hub: Hub, folder, revision: str, checkpoints=None, siblings=(), **environment):
    """The error's line, or the result. Pins stay with the folder."""
    folder.mkdir(exist_ok=True)
    settings = {"id": "ns/tiny", "revision": revision, "checkpoints": checkpoints}
    options = ["--lock", "config/hub.lock.yaml", "--siblings", *siblings]
    options += ["--audit", "audit.json", "--settings", json.dumps(settings)]
    process = User(hub, folder).start(code=CODE, options=options, **environment)
    screen, _ = process.communicate(timeout=60)
    if process.returncode:
        return screen.strip().splitlines()[-1]
    return json.loads((folder / "audit.json").read_text())


def test_a_branch_with_the_final_weights_is_refused(hub, tmp_path):
    copy(hub, "model.safetensors", "main", "step1000")
    line = audit(hub, tmp_path, "step1000")
    assert "branches step1000 and main hold the same weights (model.safetensors" in line
    assert hub.sent("*.safetensors") == 0


def test_a_sound_branch_costs_four_requests(hub, tmp_path):
    result = audit(hub, tmp_path, "step1000")
    assert list(result["compared"]) == ["main"]
    assert result["weights"].keys() == {"model.safetensors"}
    # The revision's commit, the branches, and two listings.
    asked = [request.path for request in hub.requests if "ns/tiny" in request.path]
    assert len(asked) == 4


def test_siblings_of_the_registry_and_all_branches(hub, tmp_path):
    copy(hub, "model.safetensors", "step3000", "step2000")
    assert list(audit(hub, tmp_path, "step2000")["compared"]) == ["main"]
    line = audit(hub, tmp_path, "step2000", siblings=["step1000", "step3000"])
    assert "step2000 and step3000" in line
    assert "step2000 and step3000" in audit(hub, tmp_path, "step2000", checkpoints=["*"])
    assert audit(hub, tmp_path, "step2000", checkpoints=[])["compared"] == {}


def test_one_shard_of_another_step_is_enough(hub, tmp_path):
    """As the first shard of the final model on two branches of a 12B repository."""
    for seed, revision in enumerate(["main", "step1000"]):
        folder = hub.revision("models", "ns/tiny", revision)
        (folder / "model.safetensors").unlink()
        write_model(folder, 10 + seed, shards=4)
    assert len(audit(hub, tmp_path, "step1000")["weights"]) > 2
    first = sorted(hub.revision("models", "ns/tiny", "main").glob("*.safetensors"))[0].name
    copy(hub, first, "main", "step1000")
    assert f"({first}" in audit(hub, tmp_path / "again", "step1000")


def test_pickles_count_only_where_they_are_read(hub, tmp_path):
    for revision in ("main", "step1000"):
        (hub.revision("models", "ns/tiny", revision) / "pytorch_model.bin").write_bytes(b"same")
    assert audit(hub, tmp_path, "step1000")["compared"]
    for revision in ("main", "step1000"):
        (hub.revision("models", "ns/tiny", revision) / "model.safetensors").unlink()
    assert "pytorch_model.bin" in audit(hub, tmp_path / "again", "step1000")


def test_offline_it_judges_by_what_was_listed(hub, tmp_path):
    online = audit(hub, tmp_path, "step1000")
    hub.requests.clear()
    assert audit(hub, tmp_path, "step1000", HF_HUB_OFFLINE="1") == online
    assert hub.requests == []


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        ("step1000", ["main", "step2000", "step143000"]),
        ("step143000", ["step1000", "step2000"]),  # the end of training is what main holds
        ("main", ["step1000", "step2000"]),
    ],
)
def test_the_last_step_may_be_the_final_branch(revision, expected):
    assert set(compared(STEPS, revision, ["*"], ())) == set(expected)


def test_steps_are_counted_within_their_kind():
    names = ["main", "step9000-tokens40B", "step100000-tokens442B", "ckpt_358", "ckpt_001"]
    assert is_last("step100000-tokens442B", names) and is_last("ckpt_358", names)
    assert not is_last("step9000-tokens40B", names) and not is_last("main", names)
