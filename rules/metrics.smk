"""
Metrics: how well scores tell members from non-members, and how sure that is.

REQUIRED INPUTS: scores of an attack (or an ensemble) and of Loss, labels, and the gate with its blind scores.

OUTPUTS:
    results/metrics/{model}/{dataset}/{attack}.parquet      a row per setting; p-values not adjusted
"""


include: "functions/metrics.smk"


rule evaluate:
    """Scores and labels in; AUC, TPR at FPR, their intervals and paired differences out."""
    input:
        unpack(metric_files),
    output:
        "<results>/metrics/{model}/{dataset}/{attack}.parquet",
    log:
        "<results>/logs/evaluate/{model}/{dataset}/{attack}.log",
    benchmark:
        "<results>/benchmarks/evaluate/{model}/{dataset}/{attack}.tsv"
    wildcard_constraints:
        attack=any_of([*REGISTRY.attacks, *REGISTRY.ensembles]),
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.metrics"),
        settings=metric_settings,
    shell:
        step(
            "scripts.metrics",
            "--texts {input.texts:q} --scores {input.scores:q} --loss {input.loss:q} "
            "--gate {input.gate:q} --blind {input.blind:q} --metrics {output:q}",
        )
