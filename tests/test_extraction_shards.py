"""One dataset in four shards by snakemake: the same values as in one."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

from scripts.contracts.texts import TEXTS
from scripts.contracts.tokens import STATISTICS, TOKENS

ROOT = Path(__file__).parents[1]

SNAKEFILE = """
import json

STEP = f"PYTHONPATH={config['root']} PRETRACE_DEVICE=cpu {config['python']} -m scripts."

rule all:
    input: "one.parquet", "four.parquet"

rule extract:
    input: "texts.parquet"
    output: "shards/{i}-of-{n}.parquet"
    params: settings=json.dumps({"model": "m", "dataset": "d", "view": "original"})
    shell: STEP + "tokens --model m --texts {input} --tokens {output} "
           "--settings {params.settings:q} --shard {wildcards.i} --of {wildcards.n}"

rule merge_one:
    input: texts="texts.parquet", parts="shards/1-of-1.parquet"
    output: "one.parquet"
    shell: STEP + "merge --texts {input.texts} --parts {input.parts} --tokens {output}"

rule merge_four:
    input: texts="texts.parquet", parts=expand("shards/{i}-of-4.parquet", i=range(1, 5))
    output: "four.parquet"
    shell: STEP + "merge --texts {input.texts} --parts {input.parts} --tokens {output}"
"""


def test_four_shards_by_snakemake(tmp_path):
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate("abcdefgh ")}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    torch.manual_seed(0)
    model = GPTNeoXForCausalLM(
        GPTNeoXConfig(
            vocab_size=9,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.5,
            bos_token_id=0,
            eos_token_id=0,
        )
    )
    model.save_pretrained(tmp_path / "m")
    tokenizer.save(str(tmp_path / "m" / "tokenizer.json"))
    draw = np.random.default_rng(0)
    texts = ["".join(draw.choice(list("abcdefgh "), n)) for n in draw.integers(0, 90, 70)]
    table = {
        "text_id": [f"t{i}" for i in range(70)],
        "text": texts,
        "label": pa.array([0] * 70, pa.int8()),
        "group": ["g"] * 70,
    }
    TEXTS.write(tmp_path / "texts.parquet", pa.table(table), {})
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "rules", "--config"]
    command += [f"root={ROOT}", f"python={sys.executable}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    one, four = (TOKENS.read(tmp_path / f"{name}.parquet") for name in ("one", "four"))
    same = ["text_id", "variant", "token_id", "start", "end"]
    assert one.select(same).equals(four.select(same))
    for name in STATISTICS[:4]:
        a, b = (np.concatenate(table[name].to_numpy()) for table in (one, four))
        np.testing.assert_allclose(a, b, atol=5e-5)
