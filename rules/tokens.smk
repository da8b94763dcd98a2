"""
The pass: the one step that reads texts with a model.

REQUIRED INPUTS: a model, the texts of a dataset in one view.

OUTPUTS:
    results/tokens/{model}/{dataset}/{view}.parquet     five statistics of every scored token
"""


include: "functions/tokens.smk"


rule extract:
    """A model and texts in, log-prob, top and mean log-prob, deviation and rank of each token out."""
    input:
        model=model_files,
        texts="<results>/texts/{dataset}/{view}.parquet",
    output:
        "<results>/tokens/{model}/{dataset}/{view}.parquet",
    log:
        "<results>/logs/extract/{model}/{dataset}/{view}.log",
    benchmark:
        "<results>/benchmarks/extract/{model}/{dataset}/{view}.tsv"
    wildcard_constraints:
        dataset=any_of(SOURCED),
        view="original",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=4000,
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
            "--model {params.folder:q} --texts {input.texts:q} --tokens {output:q} --memory {resources.mem_mb}",
        )
