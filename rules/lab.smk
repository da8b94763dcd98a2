"""
The lab: models trained on the spot, so that the truth is known.

REQUIRED INPUTS: none; the corpus comes with the requirements, sizes with config/lab.yaml.

OUTPUTS:
    results/tokenizers/lab/                 byte-level BPE, trained on the whole corpus
    results/corpora/{corpus}.parquet        windows of token ids with speech and date
    results/orders/{order}.parquet          training order, drawn before any training
    results/models/{training}-step{step}/   a model per checkpoint
"""


include: "functions/lab.smk"


CHECKPOINT = [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "training.json",
]


rule lab_tokenizer:
    """The corpus in, a byte-level BPE out."""
    output:
        "<results>/tokenizers/lab/tokenizer.json",
        "<results>/tokenizers/lab/tokenizer_config.json",
    log:
        "<results>/logs/lab_tokenizer.log",
    conda:
        "../envs/lab.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        root=root,
        code=code_hash("scripts.lab.tokenizer"),
        settings=settings(**LAB["tokenizer"]),
        folder=subpath(output[0], parent=True),
    shell:
        step("scripts.lab.tokenizer", "--tokenizer {params.folder:q}")


rule lab_corpus:
    """The tokenizer in, the corpus as windows of equal length out."""
    input:
        "<results>/tokenizers/lab/tokenizer.json",
    output:
        "<results>/corpora/{corpus}.parquet",
    log:
        "<results>/logs/lab_corpus/{corpus}.log",
    wildcard_constraints:
        corpus=any_of(LAB["corpora"]),
    conda:
        "../envs/lab.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        root=root,
        code=code_hash("scripts.lab.corpus"),
        settings=corpus_settings,
        folder=subpath(input[0], parent=True),
    shell:
        step("scripts.lab.corpus", "--tokenizer {params.folder:q} --corpus {output:q}")


rule lab_order:
    """The corpus in, the order of training out: which window is read at which step, how often.

    The order of a control model also depends on its target's order and dataset.
    """
    input:
        unpack(order_files),
    output:
        "<results>/orders/{order}.parquet",
    log:
        "<results>/logs/lab_order/{order}.log",
    wildcard_constraints:
        order=any_of(LAB["orders"]),
    conda:
        "../envs/lab.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        root=root,
        code=code_hash("scripts.lab.order"),
        settings=order_settings,
    shell:
        step(
            "scripts.lab.order",
            "--corpus {input.corpus:q} --base {input.base:q} --pool {input.pool:q} --order {output:q}",
        )


# A rule per training: one run of it makes several checkpoints, each a model of its own name.
for training, entry in LAB["trainings"].items():

    rule:
        name:
            f"train_{training}"
        input:
            corpus=f"<results>/corpora/{LAB['orders'][entry['order']]['corpus']}.parquet",
            order=f"<results>/orders/{entry['order']}.parquet",
            tokenizer="<results>/tokenizers/lab/tokenizer.json",
            tokenizer_config="<results>/tokenizers/lab/tokenizer_config.json",
        output:
            [
                f"<results>/models/{training}-step{checkpoint}/{file}"
                for checkpoint in entry["checkpoints"]
                for file in CHECKPOINT
            ],
        log:
            f"<results>/logs/train/{training}.log",
        benchmark:
            f"<results>/benchmarks/train/{training}.tsv"
        # Trainings are the longest jobs and much waits for them; larger models first.
        priority: entry["hidden"]
        conda:
            "../envs/lab.yaml"
        resources:
            mem_mb=3000,
            runtime=120,
        params:
            root=root,
            code=code_hash("scripts.lab.train"),
            settings=settings(training=training, seed=SEED, **entry),
            tokenizer=subpath(input.tokenizer, parent=True),
            folders=folders,
        shell:
            step(
                "scripts.lab.train",
                "--corpus {input.corpus:q} --order {input.order:q} --tokenizer {params.tokenizer:q} --models {params.folders:q}",
            )
