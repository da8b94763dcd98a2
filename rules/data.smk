"""
Texts with labels.

REQUIRED INPUTS: what a dataset's entry in config/datasets.yaml or in a study names.

OUTPUTS:
    results/texts/{dataset}/original.parquet    the texts that are evaluated
    results/aside/{dataset}.parquet             rows that never are: blind classifiers learn on them
    results/tags/{dataset}.parquet              sentences, keywords and entities, for every model
"""


include: "functions/data.smk"


SOURCED = [name for name, entry in REGISTRY.datasets.items() if "of" not in entry]
SELECTED = [name for name, entry in REGISTRY.datasets.items() if "of" in entry]


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
        dataset=any_of(SOURCED),
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
        code=code_hash("scripts.tag"),
        settings=settings(language="en"),
    shell:
        step("scripts.tag", "--texts {input:q} --tags {output:q}")
