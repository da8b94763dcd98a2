"""What the sampled continuations depend on."""


def generation_settings(wildcards):
    return settings(
        **reading_settings(wildcards),
        dtype=REGISTRY.models[wildcards.model]["dtype"],
        seed=SEED,
        **REGISTRY.config["generation"],
    )
