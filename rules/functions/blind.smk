"""What blind baselines and the gate read and depend on."""


def blind_settings(wildcards):
    entry = REGISTRY.baselines[wildcards.baseline]
    return settings(
        dataset=wildcards.dataset,
        baseline=wildcards.baseline,
        features=entry["features"],
        on=entry["input"],
        classifiers=REGISTRY.baselines_of(wildcards.dataset)[wildcards.baseline],
        permutations=REGISTRY.config["permutations"],
        seed=SEED,
    )


def blind_code(wildcards):
    return code_hash(
        "scripts.blind",
        f"scripts.baselines.{REGISTRY.baselines[wildcards.baseline]['features']}",
    )


def blind_files(wildcards):
    return [
        f"<results>/blind/{wildcards.dataset}/{baseline}.parquet"
        for baseline in REGISTRY.baselines_of(wildcards.dataset)
    ]


def gate_settings(wildcards):
    return settings(
        dataset=wildcards.dataset,
        selection=REGISTRY.config["blind_selection"],
        bootstrap=REGISTRY.config["bootstrap"],
        seed=SEED,
    )
