"""What attacks read and depend on."""


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
