"""Batches, parts, windows, shards and memory: which tokens are read and scored, and how often."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scripts.errors import UserError
from scripts.extraction.batching import Budget, plan_batches, plan_parts
from scripts.extraction.encoding import Encoded
from scripts.extraction.memory import limited
from scripts.extraction.overflow import Overflow, parse_overflow
from scripts.extraction.planning import plan, shard
from scripts.extraction.work import plan_work

BUDGET = Budget(batch=2048, early=512, part=4096)


def encoded(lengths):
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    flat = np.arange(bounds[-1])
    return Encoded(flat, flat.astype(np.int32), flat.astype(np.int32), bounds)


@given(st.lists(st.integers(1, 3000), max_size=60))
def test_each_item_is_in_one_batch_longest_first(lengths):
    lengths = np.asarray(lengths, np.int64)
    batches = plan_batches(lengths, BUDGET)
    assert sorted(np.concatenate([[], *batches])) == list(range(len(lengths)))
    sizes = [lengths[batch] for batch in batches]
    assert all(len(size) == 1 or len(size) * size.max() <= 2048 for size in sizes)
    flat = np.concatenate([[np.inf], *sizes])
    assert (np.diff(flat) <= 0).all()


@pytest.mark.parametrize(("texts", "waste"), [(64, 0.15), (1650, 0.03)])
def test_little_padding_on_the_wiki_mix(texts, waste):
    lengths = 32 * 2 ** np.random.default_rng(0).choice(4, texts, p=[0.5, 0.3, 0.15, 0.05])
    lengths = lengths - np.random.default_rng(1).integers(0, 12, texts)
    padded = sum(len(b) * lengths[b].max() for b in plan_batches(lengths, BUDGET))
    assert padded / lengths.sum() - 1 <= waste


def test_parts_hold_all_batches_and_enough_tokens():
    lengths = np.random.default_rng(0).integers(1, 300, 200)
    batches = plan_batches(lengths, BUDGET)
    parts = plan_parts(batches, lengths, BUDGET)
    assert [b.tolist() for part in parts for b in part.batches] == [b.tolist() for b in batches]
    tokens = [lengths[part.items].sum() for part in parts]
    assert min(tokens[:-1]) >= 4096 and len(parts) > 3


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(2, 20), st.data())
def test_windows_score_each_token_once_with_the_most_context(lengths, window, data):
    stride = data.draw(st.integers(1, window))
    texts = encoded(lengths)
    work = plan_work(texts.ids, texts.bounds, window, stride)
    scored = [
        position
        for first, stop in zip(work.first, work.stop, strict=True)
        for position in range(first, stop)
    ]
    every = [
        p
        for low, high in zip(texts.bounds[:-1], texts.bounds[1:], strict=True)
        for p in range(low + 1, high)
    ]
    assert sorted(scored) == every
    assert (work.stop - work.start - 1 <= window).all()
    begin = texts.bounds[np.searchsorted(texts.bounds, work.start, side="right") - 1]
    inner = work.start > begin
    # Tokens of later windows see at least window - stride tokens before them.
    assert (work.first - work.start >= np.where(inner, window - stride, 1)).all()


def test_overflow_settings():
    assert parse_overflow(None, 2048, False) == Overflow(limit=2049)
    assert parse_overflow("truncate", None, False) == Overflow()
    assert parse_overflow({"truncate": 512}, 2048, False) == Overflow(limit=512)
    assert parse_overflow({"truncate": 4096}, 2048, False) == Overflow(limit=2049)
    assert parse_overflow({"window": 1024}, 2048, False) == Overflow(window=2048, stride=1024)
    assert parse_overflow("none", 2048, False) == Overflow()
    for setting, learned in (("none", True), ({"window": 4096}, False), ("cut", False)):
        with pytest.raises(UserError, match="overflow"):
            parse_overflow(setting, 2048, learned)


def test_truncation_keeps_the_beginnings():
    cut = encoded([3, 0, 5]).truncate(4)
    assert cut.ids.tolist() == [0, 1, 2, 3, 4, 5, 6] and cut.bounds.tolist() == [0, 3, 3, 7]
    assert Overflow(limit=4).truncated(np.array([3, 0, 5])) == 1


def test_shards_split_the_texts_into_equal_token_counts():
    lengths = np.random.default_rng(0).integers(1, 900, 101)
    shards = [shard(lengths, i, 4) for i in (1, 2, 3, 4)]
    assert sorted(np.concatenate(shards)) == list(range(101))
    tokens = [lengths[rows].sum() for rows in shards]
    assert max(tokens) / min(tokens) < 1.03
    taken = encoded(lengths).take(shards[2])
    assert np.diff(taken.bounds).tolist() == lengths[shards[2]].tolist()
    begins = np.cumsum(lengths) - lengths
    assert taken.ids[taken.bounds[:-1]].tolist() == begins[shards[2]].tolist()


def test_a_prefix_stands_before_its_texts_and_batches_never_mix_prefixes():
    heads = [np.array([7, 8, 9]), np.array([5])]
    result = plan(encoded([4, 2, 3]), Overflow(), BUDGET, (heads, np.array([0, 1, 0])))
    assert result.encoded.ids.tolist() == [9, 0, 1, 2, 3, 5, 4, 5, 9, 6, 7, 8]
    assert [head.tolist() for head in result.prefixes] == [[7, 8], []]
    assert [(part.prefix, part.items.tolist()) for part in result.parts] == [(0, [0, 2]), (1, [1])]
    assert result.work.scored == 9


def test_a_memory_limit_cuts_batches_beforehand():
    backbone = SimpleNamespace(
        device=torch.device("cpu"), nbytes=400 * 2**20, bytes_per_token=100_000, vocabulary=50_304
    )
    log = []
    assert limited(BUDGET, None, backbone, log.append) == BUDGET
    assert limited(BUDGET, 8000, backbone, log.append) == BUDGET
    budget = limited(BUDGET, 1200, backbone, log.append)
    assert 256 < budget.batch < 2048 and not log
    assert budget.batch * 100_000 < 100 * 2**20
    assert limited(BUDGET, 900, backbone, log.append).batch == 256 and "too few" in log[0]
