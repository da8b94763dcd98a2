"""What the rules of splits by checkpoint read and depend on."""

# What decides which rows are drawn; how a dataset is shown or judged does not.
DRAWING = (
    "source",
    "family",
    "family_entry",
    "id",
    "step",
    "policy",
    "reading",
    "members",
    "nonmembers",
    "aside",
    "tokens",
    "until",
    "window",
    "gap",
    "run",
    "exposures",
)


def drawn_settings(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    known = {key: entry[key] for key in DRAWING if key in entry}
    return settings(dataset=wildcards.dataset, seed=SEED, **known)


def drawn_files(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    family = entry["family"]
    if entry["source"] == "published":
        return []
    if entry["policy"] == "exposure":
        return [f"<results>/exposures/{family}/{entry['step']}.npy"]
    rebuilt = "seed" in entry["family_entry"]["rows"].get("order", {})
    return [f"<results>/orders/{family}.npy"] if rebuilt else []


def drawn_code(wildcards):
    """What decides the rows; how their bytes travel is checked where they arrive."""
    entry = REGISTRY.datasets[wildcards.dataset]
    if entry["source"] == "published":
        return code_hash("scripts.checkpoints.published")
    kind = entry["family_entry"]["rows"]["kind"]
    exposure = entry["policy"] == "exposure"
    decides = "exposure" if exposure else kind
    return code_hash("scripts.checkpoints.drawn", f"scripts.checkpoints.{decides}")


def family_entry(wildcards, *keys):
    return {key: REGISTRY.families[wildcards.family][key] for key in keys}


def exposure_settings(wildcards):
    entry = family_entry(wildcards, "documents", "batch", "row", "vocabulary")
    return settings(family_entry=entry, step=int(wildcards.step))


def order_rebuilt(wildcards):
    return settings(family_entry=family_entry(wildcards, "rows", "row"))


def overlap_settings(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    known = ("vocabulary", "documents")
    family = {
        key: entry["family_entry"][key] for key in known if key in entry["family_entry"]
    }
    return settings(dataset=wildcards.dataset, seed=SEED, family_entry=family)
