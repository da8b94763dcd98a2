"""What ensembles, transfers, calibrations, groups, inferences and comparisons read and depend on."""


def original(dataset):
    return f"<results>/texts/{dataset}/original.parquet"


def scores_of(model, dataset, attacks):
    """Files of scores that hold the texts of a dataset."""
    pool = REGISTRY.pool(dataset)
    return [f"<results>/scores/{model}/{pool}/{attack}.parquet" for attack in attacks]


def learner(classifier):
    return f"scripts.learners.{classifier}"


def combined_files(wildcards):
    attacks = REGISTRY.ensembles[wildcards.ensemble]["attacks"]
    return {
        "texts": original(wildcards.dataset),
        "scores": scores_of(wildcards.model, wildcards.dataset, attacks),
    }


def combined_settings(wildcards):
    entry = REGISTRY.ensembles[wildcards.ensemble]
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        ensemble=wildcards.ensemble,
        classifier=entry["classifier"],
        settings=entry["settings"],
        permutations=REGISTRY.config["permutations"],
        seed=SEED,
    )


def combined_code(wildcards):
    classifier = REGISTRY.ensembles[wildcards.ensemble]["classifier"]
    return code_hash("scripts.combine", learner(classifier))


def crossed_files(wildcards):
    entry = REGISTRY.transfers[wildcards.transfer]
    scores = [
        path
        for dataset in entry["datasets"]
        for path in scores_of(wildcards.model, dataset, entry["attacks"])
    ]
    return {
        "texts": [original(dataset) for dataset in entry["datasets"]],
        "scores": list(dict.fromkeys(scores)),
    }


def crossed_settings(wildcards):
    entry = REGISTRY.transfers[wildcards.transfer]
    return settings(
        model=wildcards.model,
        transfer=wildcards.transfer,
        datasets=entry["datasets"],
        pools={dataset: REGISTRY.pool(dataset) for dataset in entry["datasets"]},
        classifier=entry["classifier"],
        settings=entry["settings"],
        seed=SEED,
    )


def crossed_code(wildcards):
    classifier = REGISTRY.transfers[wildcards.transfer]["classifier"]
    return code_hash("scripts.cross", learner(classifier))


def calibrated_files(wildcards):
    model, dataset, attack = wildcards.model, wildcards.dataset, wildcards.attack
    other = REGISTRY.datasets[dataset].get("calibration")
    return {
        "texts": original(dataset),
        "scores": scores_of(model, dataset, [attack])[0],
        "other_texts": [original(other)] if other else [],
        "other_scores": scores_of(model, other, [attack]) if other else [],
    }


def calibrated_settings(wildcards):
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        attack=wildcards.attack,
        settings=list(REGISTRY.settings(wildcards.attack)),
        calibration=REGISTRY.datasets[wildcards.dataset].get("calibration"),
        fpr=REGISTRY.config["calibration_fpr"],
        seed=SEED,
    )


def group_files(wildcards):
    model, dataset = wildcards.model, wildcards.dataset
    return {
        "texts": original(dataset),
        "scores": scores_of(model, dataset, [wildcards.attack])[0],
        "loss": scores_of(model, dataset, ["loss"])[0],
    }


def inferred_files(wildcards):
    attacks = REGISTRY.inferences[wildcards.inference]["attacks"]
    return {
        "texts": original(wildcards.dataset),
        "scores": scores_of(wildcards.model, wildcards.dataset, attacks),
    }


def inferred_settings(wildcards):
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        inference=wildcards.inference,
        settings=REGISTRY.inferences[wildcards.inference]["settings"],
        seed=SEED,
    )


def compared_files(wildcards):
    attacks = REGISTRY.comparisons[wildcards.comparison]["attacks"]
    return {
        "texts": original(wildcards.dataset),
        "scores": scores_of(wildcards.model, wildcards.dataset, attacks),
    }


def compared_settings(wildcards):
    entry = REGISTRY.comparisons[wildcards.comparison]
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        comparison=wildcards.comparison,
        settings=entry["settings"],
        reference=entry["reference"],
        correction=entry["correction"],
        seed=SEED,
    )
