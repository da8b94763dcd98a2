"""What the rules of the hub read and depend on."""

# In the working directory, so that users of a shared checkout have pins of their own.
LOCK = "config/hub.lock.yaml"


def hub_step(module, options):
    """A step that talks to the hub: a client that waits longer than its own ten seconds."""
    patience = " ".join(
        f'{name}="${{{{{name}:-60}}}}"'
        for name in ("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT")
    )
    return f"export {patience} HF_HUB_DISABLE_PROGRESS_BARS=1; {step(module, options)}"


def model_settings(wildcards):
    entry = REGISTRY.models[wildcards.model]
    folder = Path(HUB_FOLDER) / wildcards.model
    keys = ("id", "revision", "layout", "allow_pickle", "trust_remote_code")
    pin = planning.planned_pin(
        Path(LOCK), folder, "model", entry["id"], entry["revision"]
    )
    return settings(pin=pin, **{key: entry[key] for key in keys})


def model_code(wildcards):
    """What decides a model folder's bytes: how they travel is checked by hashes, not by code."""
    entry = REGISTRY.models[wildcards.model]
    layout = [f"scripts.models.{entry['layout']}"] if entry["layout"] else []
    converted = ["scripts.hub.convert"] if layout or entry["allow_pickle"] else []
    return code_hash("scripts.hub.files", *converted, *layout)


def audit_of(wildcards):
    """A checkpoint's audit; ancient, because another comparison changes nothing of the weights."""
    entry = REGISTRY.models[wildcards.model]
    if entry["revision"] == "main" and "checkpoints" not in entry:
        return []
    return ancient(f"<results>/audits/{wildcards.model}.json")


def audit_settings(wildcards):
    entry = REGISTRY.models[wildcards.model]
    return settings(
        id=entry["id"],
        revision=entry["revision"],
        checkpoints=entry.get("checkpoints"),
    )


def siblings(wildcards, input):
    """Revisions of other entries with the same id; a function of input, so that a new entry
    compares itself with the old ones and audits none of them again."""
    own = REGISTRY.models[wildcards.model]
    others = {
        entry.get("revision")
        for entry in REGISTRY.models.values()
        if entry.get("id") == own["id"]
    }
    return sorted(others - {own["revision"]})


def plan_settings(study):
    """An input function: what a study reads, with the entries that say where it comes from."""

    def entries(wildcards):
        cells = STUDIES[study].cells()
        compared = [
            REGISTRY.reference(cell.model, role)
            for cell in cells
            for attack in REGISTRY.attacks_of(cell.attack)
            for role in REGISTRY.attacks[attack]["references"]
        ]
        models = dict.fromkeys([*(cell.model for cell in cells), *compared])
        datasets = dict.fromkeys(REGISTRY.pool(cell.dataset) for cell in cells)
        return settings(
            models={name: REGISTRY.models[name] for name in models},
            datasets={name: REGISTRY.datasets[name] for name in datasets},
        )

    return entries
