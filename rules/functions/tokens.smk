"""What the pass reads and depends on."""

ENDPOINTS = [
    name for name, entry in REGISTRY.models.items() if entry["source"] == "endpoint"
]
GGUF = [name for name, entry in REGISTRY.models.items() if entry["source"] == "gguf"]
READ_HERE = [name for name in REGISTRY.models if name not in ENDPOINTS]


def named_files(wildcards):
    """The files of this machine that a model's entry names."""
    return planning.named_files(wildcards.model, REGISTRY.models[wildcards.model])


def model_files(wildcards):
    entry = REGISTRY.models[wildcards.model]
    if entry["source"] == "lab":
        return [f"<results>/models/{wildcards.model}/{name}" for name in CHECKPOINT]
    if entry["source"] == "hub":
        return [f"<results>/models/{wildcards.model}/hub.json"]
    if entry["source"] == "gguf":
        folder = f"<results>/models/{wildcards.model}"
        made = [f"{folder}/{name}" for name in ("config.json", "tokenizer.json")]
        return [*made, entry["path"]]
    return named_files(wildcards)


def model_folder(wildcards, input):
    return str(Path(input.model[0]).parent)


def texts_of_view(wildcards):
    """The texts that a pass reads: a view of another way to read has those of the dataset."""
    view = wildcards.view if wildcards.view in REWRITTEN else "original"
    return f"<results>/texts/{wildcards.dataset}/{view}.parquet"


def reading_settings(wildcards):
    """What every step says that reads a dataset's texts with a model."""
    trusted = REGISTRY.models[wildcards.model].get("trust_remote_code")
    return {
        "model": wildcards.model,
        "dataset": wildcards.dataset,
        "overflow": REGISTRY.datasets[wildcards.dataset]["overflow"],
        **({"trust_remote_code": True} if trusted else {}),
    }


def pass_settings(wildcards):
    view = REGISTRY.views.get(wildcards.view, {})
    ways = {key: view[key] for key in ("perturb", "vocabulary_moments") if key in view}
    reading = reading_settings(wildcards)
    if "overflow" in view:
        reading["overflow"] = view["overflow"]
    return settings(
        **reading,
        view=wildcards.view,
        dtype=REGISTRY.models[wildcards.model]["dtype"],
        **ways,
        **({"seed": SEED} if "perturb" in ways else {}),
    )


def shards(wildcards):
    """The parts of a pass, where its model's entry asks for several.

    A finished pass keeps those it was made from (the merge notes their number), so that another
    number in the entry changes nothing that is finished.
    """
    of = REGISTRY.models[wildcards.model]["shards"]
    name = f"{wildcards.model}/{wildcards.dataset}/{wildcards.view}"
    results = Path(RESULTS)
    if (results / "tokens" / f"{name}.parquet").exists():
        note = results / "shards" / name / "merged"
        of = int(note.read_text()) if note.exists() else 1
    folder = f"<results>/shards/{name}"
    return [f"{folder}/{i}-of-{of}.parquet" for i in range(1, of + 1)] if of > 1 else []


def pass_gpus(wildcards, input):
    return 0 if input.get("parts") else GPUS


def dataset_and_model(wildcards):
    return settings(model=wildcards.model, dataset=wildcards.dataset)


def record(wildcards, output):
    """Where a pass says how much it read at once: beside its benchmark, for it may differ."""
    tokens = Path(output[0])
    benchmarks = tokens.parents[3] / "benchmarks" / "extract"
    return str(benchmarks / tokens.relative_to(tokens.parents[2]).with_suffix(".json"))


def pass_memory(wildcards, input):
    """MB for a pass: weights published in 16 bits take twice their file's size in fp32.

    Those of a GGUF file are elsewhere and packed; its record says how many they are. For a model
    that is not there yet this is a FileNotFoundError: Snakemake asks again later.
    """
    first = Path(input.model[0])
    first.stat()
    size = 2 * sum(path.stat().st_size for path in first.parent.glob("*.safetensors"))
    packed = first.with_name("gguf.json")
    if packed.exists():
        # A record of an older version does not say.
        size = 4 * json.loads(packed.read_bytes()).get("weights", 0)
    return 4000 + size // 2**20


def gradient_memory(wildcards, input):
    """MB for gradients, which are as large as the weights."""
    return 2 * pass_memory(wildcards, input) - 4000
