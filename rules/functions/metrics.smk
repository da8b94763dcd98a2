"""What metrics read and depend on."""


def scores_file(model, dataset, attack):
    """The scores of an attack on the pool of a dataset, or of an ensemble on the dataset itself."""
    if attack in REGISTRY.ensembles:
        return f"<results>/ensembles/{model}/{dataset}/{attack}.parquet"
    return f"<results>/scores/{model}/{REGISTRY.pool(dataset)}/{attack}.parquet"


def metric_files(wildcards):
    model, dataset = wildcards.model, wildcards.dataset
    blind = blind_files(wildcards)
    return {
        "texts": f"<results>/texts/{dataset}/original.parquet",
        "scores": scores_file(model, dataset, wildcards.attack),
        "loss": scores_file(model, dataset, "loss"),
        "gate": [f"<results>/gates/{dataset}.parquet"] if blind else [],
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
