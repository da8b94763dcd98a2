"""`shards: 4` on a model's entry: four jobs side by side, the same values, nothing finished reruns."""

import json

import numpy as np
import yaml

from scripts.contracts.tokens import STATISTICS, TOKENS
from tests import tiny_model
from tests.workflow import checkout, snakemake

SCORES = "results/tiny/scores/{}/sharded.texts/loss.parquet"


def test_four_shards_by_snakemake(tmp_path):
    tree = checkout(tmp_path / "tree")
    tiny_model.build(tree / "model", hidden=16, layers=2, context=64)
    draw = np.random.default_rng(0)
    texts = ["".join(draw.choice(list("abcdefgh "), n)) for n in draw.integers(3, 90, 70)]
    rows = [{"text": text, "label": i % 2} for i, text in enumerate(dict.fromkeys(texts))]
    (tree / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    _study(tree, shards=4)
    scores = [SCORES.format(f"sharded.{name}") for name in ("one", "four")]
    done = snakemake(tree, *scores)
    assert done.stdout.count("rule extract_shard:") == 4

    one, four = (
        TOKENS.read(tree / f"results/tiny/tokens/sharded.{name}/sharded.texts/original.parquet")
        for name in ("one", "four")
    )
    same = ["text_id", "variant", "token_id", "start", "end"]
    assert one.select(same).equals(four.select(same))
    for name in STATISTICS[:4]:
        a, b = (np.concatenate(table[name].to_numpy()) for table in (one, four))
        np.testing.assert_allclose(a, b, atol=5e-5)
    assert not list((tree / "results/tiny/shards").rglob("*.parquet"))

    # Another number changes nothing that is finished, not even where something behind it is gone.
    for shards in (1, 2):
        _study(tree, shards)
        assert "Nothing to be done" in snakemake(tree, "-n", *scores).stdout
        (tree / scores[1]).unlink()
        assert "rule extract" not in snakemake(tree, *scores).stdout


def _study(tree, shards):
    local = {"source": "local", "path": "model"}
    study = {
        "models": {"one": local, "four": {**local, "shards": shards}},
        "datasets": {"texts": {"path": "texts.jsonl"}},
        "blocks": [{"models": ["one", "four"], "datasets": ["texts"], "attacks": ["loss"]}],
    }
    (tree / "config/studies/sharded.yaml").write_text(yaml.safe_dump(study))
