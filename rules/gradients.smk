"""
Gradients: how strongly each text would still change the model.

REQUIRED INPUTS: a model, the texts of a dataset.

OUTPUTS:
    results/gradients/{model}/{dataset}.parquet     norms of the gradient of each text's mean loss
"""


include: "functions/gradients.smk"


rule take_gradients:
    """A model and texts in, the 1-, 2- and maximum norm of each text's gradient out.

    It costs about three times a pass over single texts, in float32.
    """
    input:
        model=model_files,
        texts="<results>/texts/{dataset}/original.parquet",
    output:
        "<results>/gradients/{model}/{dataset}.parquet",
    log:
        "<results>/logs/take_gradients/{model}/{dataset}.log",
    benchmark:
        "<results>/benchmarks/take_gradients/{model}/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(SOURCED),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=gradient_memory,
        runtime=240,
        gpu=GPUS,
    params:
        root=root,
        code=code_hash("scripts.gradients"),
        settings=gradient_settings,
        folder=model_folder,
    shell:
        step(
            "scripts.gradients",
            "--model {params.folder:q} --texts {input.texts:q} --gradients {output:q} --memory {resources.mem_mb}",
        )
