"""Token statistics with the columns that only some passes write."""

import pyarrow as pa
import pytest

from scripts.contracts.tokens import TOKENS

LENGTHS = [2, 0]


def table(**more) -> pa.Table:
    """Statistics of two texts, with further columns."""
    values = [[0] * n for n in LENGTHS]
    columns = {field.name: pa.array(values, field.type) for field in list(TOKENS.required)[2:]}
    keys = {"text_id": ["a", "b"], "variant": pa.array([0, 0], pa.int32())}
    optional = {name: pa.array(rows, pa.list_(pa.float32())) for name, rows in more.items()}
    return pa.table({**keys, **columns, **optional})


def test_moments_of_the_vocabulary_are_optional(tmp_path):
    for name, written in (
        ("without", table()),
        ("with", table(vocab_mean_logprob=[[-1, -2], []], vocab_std_logprob=[[1, 2], []])),
    ):
        TOKENS.write(tmp_path / name, written, {})
        assert TOKENS.read(tmp_path / name).column_names == written.column_names


def test_they_have_one_number_per_token():
    with pytest.raises(ValueError, match="vocab_mean_logprob.* differ in length"):
        TOKENS.check(table(vocab_mean_logprob=[[-1], []]))
