"""What attacks read and depend on."""


def score_files(wildcards):
    entry = REGISTRY.attacks[wildcards.attack]
    model, dataset = wildcards.model, wildcards.dataset
    planning.refuse_lacking(REGISTRY, model, wildcards.attack)
    others = {
        "tags": f"<results>/tags/{dataset}.parquet",
        "counts": f"<results>/counts/{model}/{dataset}.parquet",
        "gradients": f"<results>/gradients/{model}/{dataset}.parquet",
        "generations": f"<results>/generations/{model}/{dataset}.parquet",
    }
    return {
        "tokens": f"<results>/tokens/{model}/{dataset}/original.parquet",
        "texts": f"<results>/texts/{dataset}/original.parquet",
        **{
            name: [path] if name in entry["needs"] else []
            for name, path in others.items()
        },
        "views": [
            f"<results>/tokens/{model}/{dataset}/{view}.parquet"
            for view in entry["views"]
        ],
        "references": [
            f"<results>/tokens/{REGISTRY.reference(model, role)}/{dataset}/original.parquet"
            for role in entry["references"]
        ],
    }


def attack_settings(wildcards):
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        attack=REGISTRY.attacks[wildcards.attack]["module"],
        columns=REGISTRY.attacks[wildcards.attack]["columns"],
        views=REGISTRY.attacks[wildcards.attack]["views"],
        references=REGISTRY.attacks[wildcards.attack]["references"],
        settings=REGISTRY.settings(wildcards.attack),
        seed=SEED,
    )


def attack_code(wildcards):
    return code_hash(
        "scripts.score",
        f"scripts.attacks.{REGISTRY.attacks[wildcards.attack]['module']}",
    )
