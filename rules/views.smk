"""
Views: a dataset's texts, rewritten.

REQUIRED INPUTS: the texts of a dataset and the rows aside, which prefixes come from; the file of
rewritings that a view of the module `given` names.

OUTPUTS:
    results/texts/{dataset}/{view}.parquet      none, one or many texts for each text of the dataset
"""


include: "functions/views.smk"


rule make_view:
    """The texts of a dataset in, their rewritings out; one file serves all models."""
    input:
        texts="<results>/texts/{dataset}/original.parquet",
        aside="<results>/aside/{dataset}.parquet",
        given=given_rewritings,
    output:
        "<results>/texts/{dataset}/{view}.parquet",
    log:
        "<results>/logs/make_view/{dataset}/{view}.log",
    benchmark:
        "<results>/benchmarks/make_view/{dataset}/{view}.tsv"
    wildcard_constraints:
        dataset=any_of(SOURCED),
        view=any_of(REWRITTEN),
    conda:
        "../envs/views.yaml"
    resources:
        mem_mb=3000,
        runtime=120,
        gpu=view_gpus,
    params:
        root=root,
        code=view_code,
        settings=view_settings,
    shell:
        step(
            "scripts.view",
            "--texts {input.texts:q} --aside {input.aside:q} --rewritten {output:q}",
        )
