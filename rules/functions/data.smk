"""What the rules of texts and tags read and depend on."""


def source_files(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    if entry["source"] == "lab":
        pool = LAB["pools"][entry["pool"]]
        return [
            "<results>/corpora/lab.parquet",
            f"<results>/orders/{pool['order']}.parquet",
        ]
    return [entry["path"], *([entry["aside"]] if "aside" in entry else [])]


def source_settings(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    detail = LAB["pools"][entry["pool"]] if entry["source"] == "lab" else {}
    known = {key: value for key, value in entry.items() if key not in ("title", "note")}
    return settings(dataset=wildcards.dataset, seed=SEED, **{**known, **detail})


def source_code(wildcards):
    source = REGISTRY.datasets[wildcards.dataset]["source"]
    return code_hash("scripts.texts", f"scripts.sources.{source}")


def parent(wildcards):
    of = REGISTRY.datasets[wildcards.dataset]["of"]
    return {
        "texts": f"<results>/texts/{of}/original.parquet",
        "aside": f"<results>/aside/{of}.parquet",
    }


def selection_settings(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    conditions = {
        key: entry[key]
        for key in ("members", "nonmembers", "where", "aside")
        if key in entry
    }
    return settings(dataset=wildcards.dataset, **conditions)
