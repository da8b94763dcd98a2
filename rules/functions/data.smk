"""What the rules of texts and tags read and depend on."""

# Also where an importing workflow has put results elsewhere.
DATASETS_FOLDER = workflow.pathvars.apply("<results>/datasets")

# Keys that decide how texts are shown, judged or attacked, not what they are; then those of the hub
# that decide what is fetched, not how it is read.
NOT_READ = (
    *("title", "note", "language", "calibration", "dataset"),
    *("baselines", "classifiers", "overflow"),
    *("id", "revision", "part", "rewritings"),
)


def fetched_settings(wildcards):
    """Which files to fetch: those of the texts, or of the rewritings that a view needs."""
    entry = REGISTRY.datasets[wildcards.dataset]
    if wildcards.view != "original":
        entry = entry["rewritings"][wildcards.view]
    of, revision = entry["id"], entry["revision"]
    folder = Path(DATASETS_FOLDER) / wildcards.dataset / wildcards.view
    return settings(
        id=of,
        revision=revision,
        files=[file["path"] for file in entry["files"]],
        pin=planning.planned_pin(Path(LOCK), folder, "dataset", of, revision),
    )


def source_files(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    if entry["source"] == "lab":
        pool = LAB["pools"][entry["pool"]]
        return [
            "<results>/corpora/lab.parquet",
            f"<results>/orders/{pool['order']}.parquet",
        ]
    if entry["source"] == "view":
        of = entry["dataset"]
        return [
            f"<results>/texts/{of}/{entry['view']}.parquet",
            f"<results>/aside/{of}.parquet",
        ]
    if entry["source"] == "hub":
        return f"<results>/datasets/{wildcards.dataset}/original/hub.json"
    return [entry["path"], *([entry["aside"]] if "aside" in entry else [])]


def source_settings(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    detail = LAB["pools"][entry["pool"]] if entry["source"] == "lab" else {}
    known = {key: value for key, value in entry.items() if key not in NOT_READ}
    return settings(dataset=wildcards.dataset, seed=SEED, **{**known, **detail})


def source_code(wildcards):
    entry = REGISTRY.datasets[wildcards.dataset]
    shape = [f"scripts.sources.shapes.{entry['shape']}"] if "shape" in entry else []
    return code_hash("scripts.texts", f"scripts.sources.{entry['source']}", *shape)


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


def language_of(wildcards):
    return REGISTRY.datasets[wildcards.dataset].get("language", "en")


def tag_settings(wildcards):
    return settings(language=language_of(wildcards))


def tag_code(wildcards):
    return code_hash("scripts.tag", f"scripts.tagging.{language_of(wildcards)}")
