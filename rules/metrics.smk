"""
Metrics: how well scores tell members from non-members, and how sure that is.

REQUIRED INPUTS: scores of an attack and of Loss, labels, and the gate with its blind scores.

OUTPUTS:
    results/metrics/{model}/{dataset}/{attack}.parquet      a row per setting; p-values not adjusted
"""


def metric_files(wildcards):
    pool = REGISTRY.pool(wildcards.dataset)
    scores = f"<results>/scores/{wildcards.model}/{pool}"
    blind = blind_files(wildcards)
    return {
        "texts": f"<results>/texts/{wildcards.dataset}/original.parquet",
        "scores": f"{scores}/{wildcards.attack}.parquet",
        "loss": f"{scores}/loss.parquet",
        "gate": [f"<results>/gates/{wildcards.dataset}.parquet"] if blind else [],
        "blind": blind,
    }


def metric_settings(wildcards):
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        attack=wildcards.attack,
        settings=list(REGISTRY.settings(wildcards.attack)),
        bootstrap=REGISTRY.config["bootstrap"],
        seed=SEED,
    )


rule evaluate:
    """Scores and labels in; AUC, TPR at FPR, their intervals and paired differences out."""
    input:
        unpack(metric_files),
    output:
        "<results>/metrics/{model}/{dataset}/{attack}.parquet",
    log:
        "<results>/logs/evaluate/{model}/{dataset}/{attack}.log",
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
