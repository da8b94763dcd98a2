"""
Blind baselines: classifiers that see texts and labels but no model; the floor an attack must beat.

REQUIRED INPUTS: the texts of a dataset and the rows aside.

OUTPUTS:
    results/blind/{dataset}/{baseline}.parquet      scores of each classifier
    results/gates/{dataset}.parquet                 their AUCs, the best one, and whether there is a shift
"""


include: "functions/blind.smk"


rule learn_blind:
    """Texts and the rows aside in, scores of classifiers that learned on the rows aside out."""
    input:
        texts="<results>/texts/{dataset}/original.parquet",
        aside="<results>/aside/{dataset}.parquet",
    output:
        "<results>/blind/{dataset}/{baseline}.parquet",
    log:
        "<results>/logs/learn_blind/{dataset}/{baseline}.log",
    benchmark:
        "<results>/benchmarks/learn_blind/{dataset}/{baseline}.tsv"
    conda:
        "../envs/blind.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        root=root,
        code=blind_code,
        settings=blind_settings,
    shell:
        step(
            "scripts.blind",
            "--texts {input.texts:q} --aside {input.aside:q} --blind {output:q}",
        )


rule gate:
    """Scores of all blind baselines of a dataset in, their metrics and the verdict out."""
    input:
        texts="<results>/texts/{dataset}/original.parquet",
        blind=blind_files,
    output:
        "<results>/gates/{dataset}.parquet",
    log:
        "<results>/logs/gate/{dataset}.log",
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.gate"),
        settings=gate_settings,
    shell:
        step(
            "scripts.gate",
            "--texts {input.texts:q} --blind {input.blind:q} --gate {output:q}",
        )
