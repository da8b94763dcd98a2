"""Models of the hub: the right bytes, or one clear line, whatever the hub does."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.hub import Fault, Hub
from tests.hub_models import pickled, write_model

ROOT = Path(__file__).parents[1]
ENTRY = {
    "id": "ns/tiny",
    "revision": "step1",
    "layout": None,
    "allow_pickle": False,
    "trust_remote_code": False,
    "pin": "",
}
WEIGHTS = "*/model.safetensors"
# The step itself, but impatient.
CODE = """
import scripts.hub.client as client, scripts.hub.fetch as fetch, scripts.cli as cli
client.WAITS = (0.01, 0.01, 0.01)
cli.run(fetch.main)
"""


@pytest.fixture(scope="module")
def repos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    for seed, revision in enumerate(["main", "step1", "step2"]):
        write_model(Hub(folder).revision("models", "ns/tiny", revision), seed)
    return folder


@pytest.fixture
def hub(repos):
    with Hub(repos) as hub:
        yield hub


@pytest.fixture
def user(hub, tmp_path):
    return User(hub, tmp_path)


class User:
    """Somebody with a cache and a working directory, who fetches models from a hub."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.hub, self.folder = hub, folder
        self.cache = folder / "cache"

    def start(self, model: str = "m", code: str = CODE, options=(), **changes) -> subprocess.Popen:
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HF_", "PYTHON"))},
            "PYTHONPATH": str(ROOT),
            "HF_ENDPOINT": self.hub.endpoint,
            "HF_HUB_CACHE": str(self.cache),
            **{k: changes.pop(k) for k in list(changes) if k.startswith("HF_")},
        }
        if not options:
            options = ["--lock", "config/hub.lock.yaml", "--manifest", f"models/{model}/hub.json"]
            options += ["--settings", json.dumps({**ENTRY, **changes})]
        return subprocess.Popen(
            [sys.executable, "-c", code, *options],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def fetch(self, **changes) -> str:
        """The error's line; "" where all went well."""
        process = self.start(**changes)
        screen, _ = process.communicate(timeout=60)
        if process.returncode == 0:
            return ""
        assert "Traceback" not in screen, screen
        return screen.strip().splitlines()[-1]

    def weights(self, model: str = "m") -> str:
        return sha256(self.folder / "models" / model / "model.safetensors")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def published(hub: Hub, revision: str = "step1") -> str:
    return sha256(hub.revision("models", "ns/tiny", revision) / "model.safetensors")


def test_a_model_folder_with_its_manifest_and_pin(user, hub):
    assert user.fetch() == ""
    assert user.weights() == published(hub)
    manifest = json.loads((user.folder / "models/m/hub.json").read_text())
    commit = hub.commit("models", "ns/tiny", "step1")
    assert manifest["commit"] == commit
    assert manifest["files"]["model.safetensors"]["sha256"] == published(hub)
    assert f"ns/tiny@step1: {commit}" in (user.folder / "config/hub.lock.yaml").read_text()


def test_a_pin_is_never_resolved_again(user, hub):
    assert user.fetch() == ""
    asked = len([r for r in hub.requests if "/revision/" in r.path])
    assert user.fetch(model="other") == ""
    assert len([r for r in hub.requests if "/revision/" in r.path]) == asked == 1
    assert user.weights("other") == published(hub)


@pytest.mark.parametrize("redirect", [False, True])
@pytest.mark.parametrize(
    "fault",
    [
        Fault("/*model.safetensors", times=2, status=503),
        Fault("/*model.safetensors", times=1, status=503, method="HEAD"),
        Fault("/api/models/ns/tiny/*", times=2, status=502),
        Fault("/api/models/ns/tiny/*", times=1, status=429, retry_after=1),
        Fault("/*model.safetensors", times=1, status=429, retry_after=1),
        Fault("/*model.safetensors", times=1, cut=1000),
        Fault("/*model.safetensors", times=1, corrupt=True),
        Fault("/*config.json", times=1, corrupt=True),
    ],
    ids=lambda fault: (
        f"{fault.method}-{fault.status or fault.cut or 'corrupt'}-{fault.pattern[:8]}"
        if isinstance(fault, Fault)
        else None
    ),
)
def test_what_passes_ends_in_the_right_bytes(user, hub, fault, redirect):
    hub.redirect = redirect
    hub.fail(Fault(**vars(fault)))
    assert user.fetch() == ""
    assert hub.faults[0].times == 0, "the fault was met"
    assert user.weights() == published(hub)


def test_a_slow_hub_is_asked_again(user, hub):
    hub.fail(Fault(WEIGHTS, times=1, delay=3))
    assert user.fetch(HF_HUB_DOWNLOAD_TIMEOUT="1") == ""
    assert user.weights() == published(hub)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(WEIGHTS, status=503), "answers 503; try again later"),
        (Fault(WEIGHTS, corrupt=True), "came twice with other bytes"),
        (Fault("/api/*", status=500), "answers 500"),
    ],
)
def test_what_does_not_pass_is_one_line_and_nothing_is_used(user, hub, fault, words):
    hub.fail(fault)
    assert words in user.fetch()
    assert not (user.folder / "models/m/hub.json").exists()
    blobs = {sha256(path) for path in user.cache.glob("models--*/blobs/*")}
    expected = {sha256(p) for p in hub.revision("models", "ns/tiny", "step1").iterdir()}
    assert blobs <= expected
    hub.faults.clear()
    assert user.fetch() == ""
    assert user.weights() == published(hub)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "ns/tinny"}, "model ns/tinny@step1: not found"),
        ({"revision": "step11"}, "no such branch, tag or commit; nearest: step1"),
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set; unset it once"),
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "cannot reach http://127.0.0.1:9"),
    ],
)
def test_what_the_user_can_mend_is_one_line(user, changes, words):
    assert words in user.fetch(**changes)


def test_a_gated_model_says_what_to_do_and_its_token_stays_with_the_hub(user, hub):
    hub.gate("ns/tiny", "hf_right")
    hub.redirect = True
    line = user.fetch()
    assert "gated: accept its terms" in line and "HF_TOKEN" in line
    assert "(403)" in user.fetch(HF_TOKEN="hf_other")
    assert user.fetch(HF_TOKEN="hf_right") == ""
    signed = [r for r in hub.requests if r.path.startswith("/signed/")]
    assert signed and all(request.token is None for request in signed)
    assert "hf_right" not in (user.folder / "models/m/hub.json").read_text()


def test_a_full_disk_is_seen_before_the_download(user, hub):
    code = CODE.replace(
        "cli.run",
        "import shutil; shutil.disk_usage = lambda p: shutil._ntuple_diskusage(9, 9, 9)\ncli.run",
    )
    screen, _ = user.start(code=code).communicate(timeout=60)
    assert "GB free in" in screen and "set HF_HUB_CACHE to another disk" in screen
    assert hub.sent(WEIGHTS) == 0


def test_two_jobs_download_once(user, hub):
    hub.fail(Fault(WEIGHTS, delay=0.5))
    jobs = [user.start(model=name) for name in ("a", "b")]
    assert [job.wait(60) for job in jobs] == [0, 0]
    gets = [r for r in hub.requests if r.method == "GET" and r.path.endswith(".safetensors")]
    assert len(gets) == 1
    assert user.weights("a") == user.weights("b") == published(hub)


def test_a_killed_download_is_not_taken_for_whole(user, hub):
    hub.fail(Fault(WEIGHTS, times=1, delay=20))
    job = user.start()
    while not any(r.method == "HEAD" and r.path.endswith(".safetensors") for r in hub.requests):
        time.sleep(0.05)
    time.sleep(0.3)
    job.kill()
    job.wait()
    assert user.fetch() == ""
    assert user.weights() == published(hub)


def test_a_damaged_cache_is_mended(user, hub):
    assert user.fetch() == ""
    blob = (user.folder / "models/m/model.safetensors").resolve()
    content = bytearray(blob.read_bytes())
    content[-1] ^= 1
    blob.write_bytes(content)
    assert user.fetch() == ""
    assert user.weights() == published(hub)


def test_offline_the_cache_and_the_pin_are_enough(user, hub):
    assert user.fetch() == ""
    hub.requests.clear()
    assert user.fetch(model="again", HF_HUB_OFFLINE="1") == ""
    assert hub.requests == []
    assert user.weights("again") == published(hub)


def test_sharded_weights_and_pickles(user, hub):
    sharded = hub.revision("models", "ns/sharded", "main")
    write_model(sharded, 5, shards=4)
    pickle = hub.revision("models", "ns/pickle", "main")
    write_model(pickle, 5)
    pickled(pickle)
    assert user.fetch(model="sharded", id="ns/sharded", revision="main") == ""
    line = user.fetch(model="pickle", id="ns/pickle", revision="main")
    assert "pickles only" in line and "allow_pickle: true" in line
    assert hub.sent("*/pytorch_model.bin") == 0
    changes = {"id": "ns/pickle", "revision": "main", "allow_pickle": True}
    assert user.fetch(model="pickle", **changes) == ""
    one, other = (tensors(user.folder / "models" / name) for name in ("sharded", "pickle"))
    assert one.keys() == other.keys() and len(one) > 10
    assert all(torch.equal(one[name], other[name]) for name in one)


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    files = set(index["weight_map"].values())
    return {k: v for file in files for k, v in load_file(folder / file).items()}


def test_a_pickle_that_runs_code_is_not_read(user, hub):
    class Evil:
        def __reduce__(self):
            return (os.system, ("touch ran",))

    folder = hub.revision("models", "ns/evil", "main")
    write_model(folder, 5)
    (folder / "model.safetensors").unlink()
    torch.save({"weight": Evil()}, folder / "pytorch_model.bin")
    line = user.fetch(id="ns/evil", revision="main", allow_pickle=True)
    assert "holds more than tensors" in line
    assert not (user.folder / "ran").exists()


def test_remote_code_is_refused_before_the_weights(user, hub):
    folder = hub.revision("models", "ns/remote", "main")
    write_model(folder, 5)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "code.Mine"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text("raise SystemExit\n")
    line = user.fetch(id="ns/remote", revision="main")
    assert "trust_remote_code: true" in line
    assert hub.sent("/ns/remote/*/model.safetensors") == hub.sent("*/code.py") == 0
    assert user.fetch(id="ns/remote", revision="main", trust_remote_code=True) == ""
    assert (user.folder / "models/m/code.py").is_file()
