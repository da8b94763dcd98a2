"""
Texts with labels.

REQUIRED INPUTS: what a dataset's entry in config/datasets.yaml or in a study names; for files of the
hub the network, or a hub cache that has them.

OUTPUTS:
    results/datasets/{dataset}/{view}/          links to the hub cache and hub.json: commit and hashes
    results/texts/{dataset}/original.parquet    the texts that are evaluated
    results/aside/{dataset}.parquet             rows that never are: blind classifiers learn on them
    results/tags/{dataset}.parquet              sentences, keywords and entities, for every model
"""


include: "functions/data.smk"


SOURCED = [name for name, entry in REGISTRY.datasets.items() if "of" not in entry]
# Those that this file loads; rows of published models come from the hub (checkpoints.smk).
LOADED = [
    name
    for name in SOURCED
    if REGISTRY.datasets[name]["source"] in ("lab", "file", "view", "hub")
]
SELECTED = [name for name, entry in REGISTRY.datasets.items() if "of" in entry]


rule fetch_dataset:
    """A revision of a dataset in, links to the files that an entry names out."""
    output:
        "<results>/datasets/{dataset}/{view}/hub.json",
    log:
        "<results>/logs/fetch_dataset/{dataset}/{view}.log",
    wildcard_constraints:
        dataset=any_of(
            name for name in SOURCED if REGISTRY.datasets[name]["source"] == "hub"
        ),
        view=any_of(["original", *REGISTRY.views]),
    # Compute nodes of a cluster often have no network.
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=1000,
        runtime=240,
    params:
        root=root,
        code=code_hash("scripts.hub.patterns"),
        settings=fetched_settings,
        lock=LOCK,
    shell:
        hub_step(
            "scripts.hub.fetch_dataset", "--lock {params.lock:q} --manifest {output:q}"
        )


rule load_texts:
    """The files of a dataset in, its texts and the rows aside out, checked against the contract."""
    input:
        source_files,
    output:
        texts="<results>/texts/{dataset}/original.parquet",
        aside="<results>/aside/{dataset}.parquet",
    log:
        "<results>/logs/load_texts/{dataset}.log",
    wildcard_constraints:
        dataset=any_of(LOADED),
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        root=root,
        code=source_code,
        settings=source_settings,
    shell:
        step(
            "scripts.texts",
            "--inputs {input:q} --texts {output.texts:q} --aside {output.aside:q}",
        )


rule select_texts:
    """The texts of a pool in, those of a selection out, with the labels that it gives them."""
    input:
        unpack(parent),
    output:
        texts="<results>/texts/{dataset}/original.parquet",
        aside="<results>/aside/{dataset}.parquet",
    log:
        "<results>/logs/select_texts/{dataset}.log",
    wildcard_constraints:
        dataset=any_of(SELECTED),
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        root=root,
        code=code_hash("scripts.select"),
        settings=selection_settings,
    shell:
        step(
            "scripts.select",
            "--texts {input.texts:q} --aside {input.aside:q} --selected {output.texts:q} --selected-aside {output.aside:q}",
        )


rule tag:
    """The texts of a dataset in, their sentences, ordered words and named entities out."""
    input:
        "<results>/texts/{dataset}/original.parquet",
    output:
        "<results>/tags/{dataset}.parquet",
    log:
        "<results>/logs/tag/{dataset}.log",
    benchmark:
        "<results>/benchmarks/tag/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(SOURCED),
    conda:
        "../envs/tags.yaml"
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        root=root,
        code=tag_code,
        settings=tag_settings,
    shell:
        step("scripts.tag", "--texts {input:q} --tags {output:q}")
