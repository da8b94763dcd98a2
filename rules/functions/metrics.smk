"""What metrics read and depend on."""


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
