"""
Generations: what a model writes behind the first part of each text.

REQUIRED INPUTS: a model, the texts of a dataset; `generation` in config/config.yaml.

OUTPUTS:
    results/generations/{model}/{dataset}.parquet       each text's second part, and samples of it
"""


include: "functions/generations.smk"


rule generate:
    """A model and texts in, the second part of each text and sampled continuations of the first out."""
    input:
        model=model_files,
        texts="<results>/texts/{dataset}/original.parquet",
    output:
        "<results>/generations/{model}/{dataset}.parquet",
    log:
        "<results>/logs/generate/{model}/{dataset}.log",
    benchmark:
        "<results>/benchmarks/generate/{model}/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(SOURCED),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=pass_memory,
        runtime=240,
        gpu=GPUS,
    params:
        root=root,
        code=code_hash("scripts.generate"),
        settings=generation_settings,
        folder=model_folder,
    shell:
        step(
            "scripts.generate",
            "--model {params.folder:q} --texts {input.texts:q} --generations {output:q} --memory {resources.mem_mb}",
        )
