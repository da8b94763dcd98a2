"""Rows of each kind of family over HTTP equal the direct read, and only they are moved."""

import numpy as np
import pytest
from huggingface_hub import constants

from scripts.checkpoints.neox import pieces, rebuild
from scripts.checkpoints.rows import open_rows
from scripts.errors import UserError
from scripts.hub import ranges
from tests import checkpoint_files as made
from tests.hub import Fault, Hub

COUNT = 3000


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    monkeypatch.setattr(ranges.time, "sleep", lambda _: None)
    with Hub(tmp_path / "hub", redirect=True) as hub:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.chdir(tmp_path)
        yield hub


@pytest.fixture
def found():
    return made.rows(COUNT)


def opened(tmp_path, family):
    return open_rows(family, made.opener(tmp_path))


def equal(read, found, positions):
    assert [row.position for row in read] == list(positions)
    for row, position in zip(read, positions, strict=True):
        assert row.ids.tolist() == found[position].tolist()


def test_rows_across_borders_equal_the_direct_read(hub, tmp_path, found):
    family = made.preshuffled(hub, found)
    rows = opened(tmp_path, family)
    assert rows.total == COUNT
    # 7, COUNT/2 and the last but one lie across borders; 99 and 100 on either side of one.
    positions = [COUNT - 1, 7, 99, 100, 0, COUNT // 2, COUNT - 2, 8]
    equal(rows.read(positions), found, positions)


def test_a_thousand_rows_move_little_more_than_themselves(hub, tmp_path, found):
    """2 x 500 of 3,000 rows, counted at the server; "headers" are what the index needs."""
    family = made.preshuffled(hub, found)
    rows = opened(tmp_path, family)
    other = hub.sent()
    positions = np.random.default_rng(1).permutation(COUNT)[:1000].tolist()
    equal(rows.read(positions), found, positions)
    size = 1000 * 2 * made.ROW
    assert size <= hub.sent() - other <= 1.2 * size
    heads = [r for r in hub.requests if r.method == "HEAD" and r.path.endswith(".bin")]
    assert len(heads) == 5  # each shard is resolved once
    # A third of the rows makes 667 runs of neighbours; a tenth of the bytes bridges 100 gaps.
    assert len([r for r in hub.requests if r.range]) < 620


def test_one_row_more_fetches_that_row_alone(hub, tmp_path, found):
    family = made.preshuffled(hub, found)
    opened(tmp_path, family).read(range(0, 400, 4))
    before = hub.sent("*.bin")
    rows = opened(tmp_path, family)
    equal(rows.read([*range(0, 400, 4), 777]), found, [*range(0, 400, 4), 777])
    assert hub.sent("*.bin") - before == 2 * made.ROW


def test_expired_locations_are_refreshed(hub, tmp_path, found):
    hub.uses = 3
    family = made.preshuffled(hub, found)
    rows = opened(tmp_path, family)
    positions = range(0, COUNT, 20)
    equal(rows.read(positions), found, positions)
    assert any(r.status == 403 for r in hub.requests)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/signed/*", times=5, status=503),
        Fault("/signed/*", times=3, status=429, retry_after=0),
        Fault("/signed/*", times=3, cut=10),
        Fault("*/resolve/*", times=2, method="HEAD", status=503),
        Fault("/api/*", times=2, status=503),
        Fault("*.bin", times=2, corrupt=True),
    ],
    ids=["503", "429", "cut", "503 on resolve", "503 on listing", "wrong bytes"],
)
def test_faults_end_in_the_right_rows(hub, tmp_path, found, fault):
    found[:, :] %= 128  # a flipped byte is an id beyond the vocabulary
    family = {**made.preshuffled(hub, found), "vocabulary": 128}
    hub.fail(fault)
    positions = range(5, COUNT, 100)
    equal(opened(tmp_path, family).read(positions), found, positions)
    assert fault.times == 0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("*.bin", corrupt=True), "these bytes are not what they should be"),
        (Fault("*.bin", status=403), r"access is refused \(403\)"),
        (Fault("*.idx", times=1, corrupt=True), "a second reading gave other bytes"),
        (Fault("*.bin", cut=1), r"document-\d+-of-00004\.bin, bytes"),
    ],
)
def test_lasting_faults_are_one_line_and_nothing_wrong_is_kept(
    hub, tmp_path, found, fault, message
):
    found[:, :] %= 128
    family = {**made.preshuffled(hub, found), "vocabulary": 128}
    hub.fail(fault)
    with pytest.raises(UserError, match=message) as error:
        opened(tmp_path, family).read([3, 100, 2000])
    assert "\n" not in str(error.value)
    hub.faults.clear()
    equal(opened(tmp_path, family).read([3, 100, 2000]), found, [3, 100, 2000])


def test_wrong_bytes_in_the_vocabulary_are_seen_by_the_second_reading(hub, tmp_path, found):
    """One of many requests is wrong: it is found where that one is made twice."""
    family = made.preshuffled(hub, found)
    rows = opened(tmp_path, family)
    hub.fail(Fault("*.bin", times=None, corrupt=True))
    real, calls = ranges.Reader._request, []

    def request(self, span):
        calls.append(span)
        if calls.count(span) == 2:
            hub.faults.clear()
        return real(self, span)

    ranges.Reader._request = request
    try:
        with pytest.raises(UserError, match="second reading"):
            rows.read(range(0, COUNT, 30))
    finally:
        ranges.Reader._request = real


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row": 32}, "check `row` and `files`"),
        ({"rows": {"index": "document-00000-of-00004.bin"}}, "is no Megatron index"),
        ({"rows": {"files": "nothing-*.bin"}}, r"no file nothing-\*\.bin"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(hub, tmp_path, found, change, message):
    family = made.preshuffled(hub, found)
    family = {**family, **change, "rows": {**family["rows"], **change.get("rows", {})}}
    with pytest.raises(UserError, match=message):
        opened(tmp_path, family)


def test_an_index_of_another_order_is_refused(hub, tmp_path, found):
    family = made.preshuffled(hub, found)
    lengths = np.full(COUNT, made.ROW)
    lengths[0], lengths[1] = made.ROW + 1, made.ROW - 1
    made.index(hub.revision("datasets", "toy/preshuffled") / "document.idx", lengths)
    with pytest.raises(UserError, match="row 0 has 34 tokens"):
        opened(tmp_path, family)


def test_parquet_rows_equal_the_direct_read(hub, tmp_path, found):
    family = made.preshuffled(hub, found)
    family = {**family, "rows": made.parquet(hub, found, steps=300, group=100)}
    positions = [2999, 2990, 2501]
    equal(opened(tmp_path, family).read(positions), found, positions)
    whole = sum(
        p.stat().st_size for p in hub.revision("datasets", "toy/parquet").rglob("*.parquet")
    )
    footer = 64 << 10  # what pyarrow reads of a file's end
    assert hub.sent("*.parquet") < footer + whole / 10  # two of thirty row groups
    positions = [2999, 0, 499, 500, 501, 1234]
    equal(opened(tmp_path, family).read(positions), found, positions)
    before = hub.sent("*.parquet")
    equal(opened(tmp_path, family).read(positions), found, positions)
    assert hub.sent("*.parquet") == before


def documents(seed=3, count=120):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4 * made.ROW, count)
    return [rng.integers(0, made.VOCABULARY, size).astype(np.uint16) for size in sizes]


def neox_maps(sizes, order):
    """The three maps as gpt-neox writes them: the loop of its `build_sample_idx`."""
    sample, copy, offset = [(0, 0)], 0, 0
    length = order.length
    for _ in range(len(order.samples)):
        left = length + 1
        while left:
            size = sizes[order.documents[copy]] - offset
            left -= size
            if left <= 0:
                offset += left + size - 1
                left = 0
            else:
                copy, offset = copy + 1, 0
        sample.append((copy, offset))
    return {
        "shuffle": order.samples,
        "sample": np.array(sample, np.int32),
        "doc": order.documents,
    }


def test_rows_from_index_maps_equal_the_joined_stream(hub, tmp_path):
    texts = documents()
    sizes = np.array([len(text) for text in texts], np.int32)
    order = rebuild(sizes, made.ROW - 1, 100, 1)
    folder = hub.revision("datasets", "toy/maps") / "seed1"
    folder.mkdir()
    for name, values in neox_maps(sizes, order).items():
        np.save(folder / f"pile_1s_{name}_idx.npy", values)
    family = {
        "rows": {"kind": "samples", "repo": "toy/maps", "maps": "seed1/*_{map}_idx.npy"},
        "documents": made.corpus(hub, texts),
        "batch": made.BATCH,
        "row": made.ROW,
        "vocabulary": made.VOCABULARY,
    }
    rows = opened(tmp_path, family)
    assert rows.total == len(order.samples)
    positions = list(range(rows.total))
    for row, position in zip(rows.read(positions), positions, strict=True):
        parts = pieces(order, sizes, position)
        expected = np.concatenate([texts[d][start:stop] for d, start, stop in parts])
        assert row.ids.tolist() == expected.tolist()
        longest = max(parts, key=lambda part: part[2] - part[1])
        assert row.group == f"document{longest[0]}"


@pytest.mark.parametrize("published", [True, False])
def test_instances_in_a_published_or_rebuilt_order(hub, tmp_path, found, published):
    """OLMo's: numpy's PCG64 shuffle of all instances, the rest of each file dropped."""
    folder = hub.revision("datasets", "toy/instances")
    parts = [found[:700], found[700:701], found[701:1000]]
    for number, part in enumerate(parts):
        rest = part[0, : 5 * (number + 1)].tobytes()
        (folder / f"part-{number:03d}-00000.npy").write_bytes(part.tobytes() + rest)
    order = np.arange(1000, dtype=np.uint32)
    np.random.Generator(np.random.PCG64(6198)).shuffle(order)
    (folder / "global_indices.npy").write_bytes(order[:995].tobytes())
    entry = {"kind": "instances", "repo": "toy/instances", "files": "part-*.npy"}
    entry["order"] = (
        {"repo": "toy/instances", "files": "global_indices.npy"} if published else {"seed": 6198}
    )
    family = {"rows": entry, "batch": 10, "row": made.ROW, "vocabulary": made.VOCABULARY}
    rebuilt = None
    if not published:
        from scripts.checkpoints.instances import permutation

        rebuilt = tmp_path / "order.npy"
        np.save(rebuilt, permutation(1000, 6198))
    rows = open_rows(family, made.opener(tmp_path), rebuilt)
    positions = [0, 994, 500, 1]
    equal(rows.read(positions), found[order], positions)


def test_instances_with_a_missing_file_are_refused(hub, tmp_path, found):
    folder = hub.revision("datasets", "toy/instances")
    (folder / "part-000-00000.npy").write_bytes(found[:900].tobytes())
    (folder / "order.npy").write_bytes(np.arange(1000, dtype=np.uint32).tobytes())
    entry = {
        **{"kind": "instances", "repo": "toy/instances", "files": "part-*.npy"},
        "order": {"repo": "toy/instances", "files": "order.npy"},
    }
    family = {"rows": entry, "batch": 10, "row": made.ROW, "vocabulary": made.VOCABULARY}
    with pytest.raises(UserError, match="hold 900 instances, but the order has 1000"):
        opened(tmp_path, family)


def test_instances_from_a_plain_web_folder(hub, tmp_path, found):
    folder = hub.revision("datasets", "toy/instances")
    for part, number in ((0, 0), (0, 1), (1, 0)):
        at = 100 * (2 * part + number)
        file = folder / f"part-{part:03d}-{number:05d}.npy"
        file.write_bytes(found[at : at + 100].tobytes())
    (folder / "order.npy").write_bytes(np.arange(300, dtype=np.uint32)[::-1].tobytes())
    hub.redirect = False
    url = f"{hub.endpoint}/datasets/toy/instances/resolve/main"
    entry = {
        **{"kind": "instances", "url": url, "counts": "21"},
        "files": "part-{part:03d}-{number:05d}.npy",
        "order": {"url": url, "files": "order.npy"},
    }
    family = {"rows": entry, "batch": 10, "row": made.ROW, "vocabulary": made.VOCABULARY}
    equal(opened(tmp_path, family).read([0, 150, 299]), found[:300][::-1], [0, 150, 299])


def test_lines_are_whole_rows_of_their_interval(hub, tmp_path, found):
    chunks = [found[:200], found[200:203], found[203:500]]
    family = {
        "rows": made.lines(hub, chunks),
        **{"row": made.ROW, "vocabulary": made.VOCABULARY, "steps": 3},
    }
    rows = opened(tmp_path, family)
    positions = range(0, rows.total, 97)
    read = rows.read(positions)
    assert 0 < len(positions) - len(read) <= 6  # bytes of the last row of a file have none after
    known = {tuple(row.tolist()): i for i, row in enumerate(found[:500])}
    content = "".join(
        p.read_text() for p in sorted(hub.revision("datasets", "toy/lines").iterdir())
    ).encode()
    for row in read:
        number = known[tuple(row.ids.tolist())]
        inside = number if number < 200 else number - 200 if number < 203 else number - 203
        assert row.domain == f"s{inside % 3}"
        assert rows.step(row.position) == np.searchsorted([200, 203], number, side="right")
        assert content[row.position :].startswith(b'{"token_ids": [')
        assert content[row.position - 1 : row.position] == b"\n"
