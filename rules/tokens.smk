"""
The pass: the one step that reads texts with a model.

REQUIRED INPUTS: a model, the texts of a dataset in one view.

OUTPUTS:
    results/tokens/{model}/{dataset}/{view}.parquet     five statistics of every scored token
    results/counts/{model}/{dataset}.parquet            how often each token stands in the rows aside
"""


include: "functions/tokens.smk"


rule extract:
    """A model and texts in, log-prob, top and mean log-prob, deviation and rank of each token out.

    Where the model's entry asks for shards, these are made by jobs of their own and put together.
    """
    input:
        model=model_files,
        texts=texts_of_view,
        parts=shards,
    output:
        "<results>/tokens/{model}/{dataset}/{view}.parquet",
    log:
        "<results>/logs/extract/{model}/{dataset}/{view}.log",
    benchmark:
        "<results>/benchmarks/extract/{model}/{dataset}/{view}.tsv"
    wildcard_constraints:
        model=any_of(READ_HERE),
        dataset=any_of(SOURCED),
        view=any_of(["original", *REGISTRY.views]),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=pass_memory,
        runtime=240,
        gpu=pass_gpus,
    params:
        root=root,
        code=code_hash("scripts.tokens"),
        settings=pass_settings,
        folder=model_folder,
        record=record,
    shell:
        step(
            "scripts.tokens",
            "--model {params.folder:q} --texts {input.texts:q} --record {params.record:q} --parts {input.parts:q} --tokens {output:q} --memory {resources.mem_mb}",
        )


rule extract_shard:
    """A model and texts in, the token statistics of one shard of these texts out."""
    input:
        model=model_files,
        texts=texts_of_view,
    output:
        temp("<results>/shards/{model}/{dataset}/{view}/{i}-of-{n}.parquet"),
    log:
        "<results>/logs/extract/{model}/{dataset}/{view}/{i}-of-{n}.log",
    benchmark:
        "<results>/benchmarks/extract/{model}/{dataset}/{view}/{i}-of-{n}.tsv"
    wildcard_constraints:
        model=any_of(READ_HERE),
        dataset=any_of(SOURCED),
        view=any_of(["original", *REGISTRY.views]),
        i=r"\d+",
        n=r"\d+",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=pass_memory,
        runtime=240,
        gpu=GPUS,
    params:
        root=root,
        code=code_hash("scripts.tokens"),
        settings=pass_settings,
        folder=model_folder,
    shell:
        step(
            "scripts.tokens",
            "--model {params.folder:q} --texts {input.texts:q} --tokens {output:q} --memory {resources.mem_mb} --shard {wildcards.i} --of {wildcards.n}",
        )


rule count_tokens:
    """A model's tokenizer and the rows aside in, how often each token stands in them out."""
    input:
        model=model_files,
        aside="<results>/aside/{dataset}.parquet",
    output:
        "<results>/counts/{model}/{dataset}.parquet",
    log:
        "<results>/logs/count_tokens/{model}/{dataset}.log",
    wildcard_constraints:
        dataset=any_of(SOURCED),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.counts"),
        settings=dataset_and_model,
        folder=model_folder,
    shell:
        step(
            "scripts.counts",
            "--model {params.folder:q} --aside {input.aside:q} --counts {output:q}",
        )
