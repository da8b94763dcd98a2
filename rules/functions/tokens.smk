"""What the pass reads and depends on."""


def model_files(wildcards):
    entry = REGISTRY.models[wildcards.model]
    if entry["source"] == "lab":
        return [f"<results>/models/{wildcards.model}/{name}" for name in CHECKPOINT]
    return planning.model_files(wildcards.model, entry["path"])


def model_folder(wildcards, input):
    return str(Path(input.model[0]).parent)


def pass_settings(wildcards):
    entry = REGISTRY.models[wildcards.model]
    return settings(
        model=wildcards.model,
        dataset=wildcards.dataset,
        view=wildcards.view,
        dtype=entry["dtype"],
        overflow="truncate",
    )
