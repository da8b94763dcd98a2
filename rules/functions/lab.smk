"""What the rules of the lab read and depend on."""


def corpus_settings(wildcards):
    return settings(**LAB["corpora"][wildcards.corpus])


def order_files(wildcards):
    """The corpus; of an order that depends on another one, that order and the dataset cut from it."""
    entry = LAB["orders"][wildcards.order]
    files = {"corpus": f"<results>/corpora/{entry['corpus']}.parquet"}
    dataset = entry.get("outside") or entry.get("exchange")
    if not dataset:
        return {**files, "base": [], "pool": []}
    base = LAB["pools"][REGISTRY.datasets[dataset]["pool"]]["order"]
    return {
        **files,
        "base": [f"<results>/orders/{base}.parquet"],
        "pool": [
            f"<results>/texts/{dataset}/original.parquet",
            f"<results>/aside/{dataset}.parquet",
        ],
    }


def order_settings(wildcards):
    return settings(order=wildcards.order, seed=SEED, **LAB["orders"][wildcards.order])


def folders(wildcards, output):
    return list(dict.fromkeys(str(Path(path).parent) for path in output))
