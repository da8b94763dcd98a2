"""What asking a server depends on."""


def asking_settings(wildcards):
    entry = REGISTRY.models[wildcards.model]
    reading = reading_settings(wildcards)
    if "overflow" in REGISTRY.views.get(wildcards.view, {}):
        reading["overflow"] = REGISTRY.views[wildcards.view]["overflow"]
    return settings(
        **reading,
        view=wildcards.view,
        served=entry["model"],
        prompt=entry["prompt"],
        top=entry["top"],
        context=entry.get("context"),
    )


def server(wildcards, input):
    """Where to ask and how; a function of input, so that a server that moves is asked nothing again."""
    entry = REGISTRY.models[wildcards.model]
    return settings(
        **{key: entry[key] for key in ("url", "concurrency", "timeout", "key_variable")}
    )
