"""
Attacks: one score per text and setting; higher means member.

REQUIRED INPUTS: token statistics, the texts, and what else an attack's entry names: tags, token
counts, gradient norms, sampled continuations, views, passes of other models.

OUTPUTS:
    results/scores/{model}/{dataset}/{attack}.parquet
"""


include: "functions/scores.smk"


rule score:
    """Token statistics in, one score per text and setting of one attack out."""
    input:
        unpack(score_files),
    output:
        "<results>/scores/{model}/{dataset}/{attack}.parquet",
    log:
        "<results>/logs/score/{model}/{dataset}/{attack}.log",
    benchmark:
        "<results>/benchmarks/score/{model}/{dataset}/{attack}.tsv"
    wildcard_constraints:
        dataset=any_of(SOURCED),
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=attack_code,
        settings=attack_settings,
    shell:
        step(
            "scripts.score",
            "--tokens {input.tokens:q} --texts {input.texts:q} --tags {input.tags:q} --counts {input.counts:q} "
            "--gradients {input.gradients:q} --generations {input.generations:q} "
            "--views {input.views:q} --references {input.references:q} --scores {output:q}",
        )
