"""Members and non-members of a checkpoint: who is drawn, with which labels, from which steps."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import constants
from scipy.stats import chi2

from scripts.checkpoints.count import main as count_main
from scripts.checkpoints.exposure import choose, seen
from scripts.checkpoints.overlap import expected, hashes, overlap, rich
from scripts.checkpoints.rows import Batched
from scripts.checkpoints.sampling import draw, ranges
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.sources import checkpoint, published
from tests import checkpoint_files as made
from tests.hub import Hub

COUNT = 2000
STEP = 120
ENTRY = {
    **{"dataset": "toy", "seed": 1234, "source": "checkpoint", "family": "toy", "step": STEP},
    **{"policy": "sequence", "reading": "paper", "gap": 0, "run": 1, "tokens": made.ROW - 1},
    **{"members": 30, "nonmembers": 20, "aside": 25, "until": 180},
}


@pytest.fixture
def hub(tmp_path, monkeypatch):
    with Hub(tmp_path / "hub", redirect=True) as hub:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "config").mkdir()
        made.tokenizer(hub)
        yield hub


def test_rows_labels_and_steps_are_those_of_the_order(hub):
    found = made.rows(COUNT)
    settings = {**ENTRY, "family_entry": made.preshuffled(hub, found)}
    loaded = checkpoint.load([], settings)
    for table, sizes in ((loaded.texts, (30, 20)), (loaded.aside, (25, 25))):
        TEXTS.check(table)
        labels = table["label"].to_pylist()
        assert (labels.count(1), labels.count(0)) == sizes
        for row in table.to_pylist():
            position = int(row["text_id"].removeprefix("row"))
            assert row["token_ids"] == found[position, :-1].tolist()  # equal lengths
            assert row["text"] == bytes(row["token_ids"]).decode(errors="replace")
            assert row["step"] == position // made.BATCH
            assert row["label"] == row["exposures"] == (row["step"] < STEP)
            assert row["step"] < 180
            assert row["group"] == row["text_id"]
    names = loaded.texts["text_id"].to_pylist() + loaded.aside["text_id"].to_pylist()
    assert len(set(names)) == 100
    assert loaded.provenance["files"] == [
        f"toy/preshuffled@{hub.commit('datasets', 'toy/preshuffled')}"
    ]
    again = checkpoint.load([], settings)
    assert again.texts.equals(loaded.texts) and again.aside.equals(loaded.aside)


def test_one_row_more_keeps_all_others_and_fetches_one(hub):
    settings = {**ENTRY, "family_entry": made.preshuffled(hub, made.rows(COUNT))}
    first = checkpoint.load([], settings)
    before = hub.sent("*.bin")
    more = checkpoint.load([], {**settings, "members": 31})
    assert set(first.texts["text_id"].to_pylist()) < set(more.texts["text_id"].to_pylist())
    assert first.aside.equals(more.aside)
    assert hub.sent("*.bin") - before == 2 * made.ROW


def test_too_few_rows_is_one_line(hub):
    settings = {**ENTRY, "family_entry": made.preshuffled(hub, made.rows(COUNT)), "until": 123}
    with pytest.raises(UserError, match="45 nonmembers wanted, rows aside included, but only 30"):
        checkpoint.load([], settings)


def steps(population, batch=made.BATCH):
    return {p // batch for first, last in population for p in range(first, last)}


@pytest.mark.parametrize(
    ("change", "members", "nonmembers"),
    [
        ({}, range(0, 120), range(120, 180)),
        ({"gap": 5}, range(0, 115), range(125, 180)),
        ({"window": 40}, range(80, 120), range(120, 160)),
        ({"window": 10, "gap": 3}, range(107, 117), range(123, 133)),
        ({"window": 500}, range(0, 120), range(120, 180)),
        ({"policy": "held_out"}, range(0, 120), range(190, 200)),
    ],
)
def test_ranges_of_the_policies(change, members, nonmembers):
    rows = Batched(made.BATCH, COUNT)
    found = ranges({**ENTRY, **change}, {"steps": 190}, rows)
    assert (steps(found[0]), steps(found[1])) == (set(members), set(nonmembers))


def test_windows_of_the_released_code():
    """387 windows of 15,361 rows before step 97,000 and six after it, counted in its scripts."""
    rows = Batched(1024, 146_432_000)
    settings = {**ENTRY, "reading": "released", "step": 97_000, "until": 98_500}
    members, nonmembers = ranges(settings, {"steps": 143_000}, rows)
    assert len(members) == 387
    assert [first // 1024 for first, _ in nonmembers] == [97010, 97475, 97510, 97975, 98010, 98475]
    assert {last - first for first, last in members + nonmembers} == {15_361}
    assert members[:2] == [(475 * 1024, 490 * 1024 + 1), (510 * 1024, 525 * 1024 + 1)]


@pytest.mark.parametrize(("total", "run"), [(60, 1), (60, 4), (1 << 40, 1)])
def test_a_draw_extends_and_never_repeats(total, run):
    population = [(100, 100 + total // 2), (10**13, 10**13 + total // 2)]
    stream = draw(np.random.default_rng(5), population, run)
    wanted = min(56, total)
    long = [next(stream) for _ in range(wanted)]
    other = draw(np.random.default_rng(5), population, run)
    assert [next(other) for _ in range(20)] == long[:20]
    assert len(set(long)) == wanted
    assert all(any(a <= p < b for a, b in population) for p in long)
    if total == 60:
        assert len(long) + len(list(stream)) == 2 * (30 // run) * run


def test_every_position_is_drawn_as_often():
    """Pearson's chi-square of 20 of 60 positions in 600 draws, as in the lab's pools."""
    counts = np.zeros(60)
    for seed in range(600):
        stream = draw(np.random.default_rng(seed), [(0, 20), (30, 70)])
        for _ in range(20):
            position = next(stream)
            counts[position if position < 20 else position - 10] += 1
    share = 1 / 3
    statistic = ((counts - 200) ** 2 / (200 * (1 - share))).sum() * 59 / 60
    assert chi2.ppf(0.0005, 59) < statistic < chi2.ppf(0.9995, 59)


def documents(count=1500, seed=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 60, count)
    return [rng.integers(0, made.VOCABULARY, size).astype(np.uint16) for size in sizes]


def exposure_family(hub, texts):
    tokens = sum(map(len, texts))
    entry = {**made.corpus(hub, texts), "samples": int(1.4 * tokens) // (made.ROW - 1)}
    return {
        **{"documents": entry, "batch": made.BATCH, "row": made.ROW, "tokens": 16},
        **{"vocabulary": made.VOCABULARY, "tokenizer": "toy/tokenizer", "rows": {}},
    }


def test_documents_never_seen_against_documents_seen(hub, tmp_path, monkeypatch):
    texts = documents()
    family = exposure_family(hub, texts)
    out = tmp_path / "seen.npy"
    told = json.dumps({"family_entry": family, "step": 100})
    lock = str(tmp_path / "config/hub.lock.yaml")
    command = ["count", "--lock", lock, "--seen", str(out), "--settings", told]
    monkeypatch.setattr("sys.argv", command)
    count_main()
    sizes = np.array([len(text) for text in texts], np.int32)
    counts = seen(sizes, family, 100)  # by brute force: test_checkpoints_order.py
    assert np.array_equal(np.load(out), counts)
    settings = {
        **{**ENTRY, "policy": "exposure", "family_entry": family, "tokens": 16, "step": 100},
        **{"members": 40, "nonmembers": 40, "aside": 10},
    }
    loaded = checkpoint.load([out], settings)
    assert loaded.texts.num_rows == 80 and loaded.aside.num_rows == 20
    lengths = {0: [], 1: []}
    for row in loaded.texts.to_pylist() + loaded.aside.to_pylist():
        number = int(row["text_id"].removeprefix("document"))
        assert row["token_ids"] == texts[number][:16].tolist()
        assert row["exposures"] == counts["exposures"][number]
        assert row["label"] == (row["exposures"] > 0)
        assert (row["step"] < 100) == bool(row["label"])
        assert row["group"] == row["text_id"]
        lengths[row["label"]].append(len(texts[number]) // 2)
    assert sorted(lengths[0]) == sorted(lengths[1])  # paired, up to an eighth of 16 tokens
    once = checkpoint.load([out], {**settings, "exposures": 1})
    assert set(once.texts["exposures"].to_pylist()) == {0, 1}


def test_too_few_documents_is_one_line():
    found = seen(np.full(50, 20, np.int32), FAMILY, 2)
    with pytest.raises(UserError, match="at least 16 tokens were never seen"):
        choose(found, 16, 50, ENTRY)


FAMILY = {"documents": {"samples": 30, "seed": 1}, "row": 33, "batch": 5}


def test_hashes_are_those_of_equal_windows():
    ids = np.random.default_rng(0).integers(0, 5, 400)
    codes = np.random.default_rng(1).integers(0, 1 << 64, 5, np.uint64)
    found = hashes(ids, codes, window=4)
    windows = [tuple(ids[i : i + 4].tolist()) for i in range(397)]
    by_hash = {}
    for value, window in zip(found.tolist(), windows, strict=True):
        assert by_hash.setdefault(value, window) == window
    assert len(by_hash) == len(set(windows))
    assert len(hashes(ids[:3], codes, window=4)) == 0


def test_overlap_finds_planted_pieces_and_nothing_else():
    rng = np.random.default_rng(2)
    members = [rng.integers(0, 1000, 300) for _ in range(40)]
    others = [rng.integers(0, 1000, 300) for _ in range(40)]
    others[5][100:180] = members[17][3:83]  # 80 tokens: 17 windows of 64
    others[9][0:63] = members[2][0:63]  # one token too few
    members[4][:100] = others[8][:100] = 7  # the same token over and over is no evidence
    assert overlap(members, others, 1000, 1) == [{"nonmember": 5, "member": 17, "windows": 17}]
    assert not rich(np.full(70, 7)).any()
    # 30,000 rows a side of 202.1 million with 3 documents each: about 13.
    family = {"documents": {"per_row": 3, "pool": 202_100_000}}
    assert expected(30_000, 30_000, family) == pytest.approx(13.36, abs=0.01)


def test_a_published_split_is_read_from_its_start(hub):
    folder = hub.revision("datasets", "toy/published") / "data"
    folder.mkdir()
    found = {"member": made.rows(60, 1), "nonmember": made.rows(60, 2)}
    for name, rows in found.items():
        for part in range(2):
            half = rows[30 * part : 30 * part + 30]
            table = pa.table({"tokens": [row.tolist() for row in half], "text": ["x"] * 30})
            pq.write_table(table, folder / f"{name}-{part:05d}-of-00002.parquet", row_group_size=10)
    settings = {
        **{"id": "toy/published", "family": "toy", "dataset": "p", "tokens": made.ROW - 1},
        **{"members": 25, "nonmembers": 15, "aside": 20},
        "family_entry": {"tokenizer": "toy/tokenizer", "vocabulary": made.VOCABULARY},
    }
    loaded = published.load([], settings)
    TEXTS.check(loaded.texts)
    ids = loaded.texts["token_ids"].to_pylist()
    assert ids[:25] == found["member"][20:45, :-1].tolist()
    assert ids[25:] == found["nonmember"][20:35, :-1].tolist()
    assert loaded.aside["token_ids"].to_pylist()[20:] == found["nonmember"][:20, :-1].tolist()
    assert loaded.texts["label"].to_pylist() == [1] * 25 + [0] * 15
    with pytest.raises(UserError, match="60 rows in data/member"):
        published.load([], {**settings, "members": 41})
