"""
Attacks: one score per text and setting; higher means member.

REQUIRED INPUTS: token statistics, the texts, and for some attacks their tags.

OUTPUTS:
    results/scores/{model}/{dataset}/{attack}.parquet
"""


def score_files(wildcards):
    needs = REGISTRY.attacks[wildcards.attack]["needs"]
    return {
        "tokens": f"<results>/tokens/{wildcards.model}/{wildcards.dataset}/original.parquet",
        "texts": f"<results>/texts/{wildcards.dataset}/original.parquet",
        "tags": (
            [f"<results>/tags/{wildcards.dataset}.parquet"] if "tags" in needs else []
        ),
    }


def attack_settings(wildcards):
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        attack=REGISTRY.attacks[wildcards.attack]["module"],
        columns=REGISTRY.attacks[wildcards.attack]["columns"],
        settings=REGISTRY.settings(wildcards.attack),
        seed=SEED,
    )


def attack_code(wildcards):
    return code_hash(
        "scripts.score",
        f"scripts.attacks.{REGISTRY.attacks[wildcards.attack]['module']}",
    )


rule score:
    """Token statistics in, one score per text and setting of one attack out."""
    input:
        unpack(score_files),
    output:
        "<results>/scores/{model}/{dataset}/{attack}.parquet",
    log:
        "<results>/logs/score/{model}/{dataset}/{attack}.log",
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
            "--tokens {input.tokens:q} --texts {input.texts:q} --tags {input.tags:q} --scores {output:q}",
        )
