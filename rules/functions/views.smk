"""What views read and depend on."""

REWRITTEN = [
    name for name, entry in REGISTRY.views.items() if REGISTRY.rewritten(entry)
]


def settings_of_view(wildcards):
    """The entry's settings; a path may say {dataset} where each has a file of its own.

    What a dataset's authors published, its own entry describes.
    """
    view = REGISTRY.views[wildcards.view]
    if view["module"] == "published":
        own = REGISTRY.datasets[wildcards.dataset]["rewritings"][wildcards.view]
        folder = Path(DATASETS_FOLDER) / wildcards.dataset / wildcards.view
        return {
            "path": str(folder / "hub.json"),
            "files": own["files"],
            "columns": own["columns"],
        }
    given = view["settings"]
    if "path" in given:
        given = {**given, "path": given["path"].replace("{dataset}", wildcards.dataset)}
    return given


def given_rewritings(wildcards):
    given = settings_of_view(wildcards)
    return [given["path"]] if "path" in given else []


def view_settings(wildcards):
    return settings(
        dataset=wildcards.dataset,
        view=wildcards.view,
        maker=REGISTRY.views[wildcards.view]["module"],
        settings=settings_of_view(wildcards),
        seed=SEED,
    )


def view_code(wildcards):
    maker = REGISTRY.views[wildcards.view]["module"]
    return code_hash("scripts.view", f"scripts.views.{maker}")


def view_gpus(wildcards):
    """A masked language model runs where passes do."""
    return GPUS if REGISTRY.views[wildcards.view]["module"] == "neighbours" else 0
