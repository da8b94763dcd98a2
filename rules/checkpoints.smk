"""
Splits by checkpoint: training rows of published models, read by byte ranges.

REQUIRED INPUTS: entries with `source: checkpoint` or `published` in config/datasets.yaml, families
in config/families.yaml; the network, or a hub cache that has the rows.

OUTPUTS:
    results/exposures/{family}/{step}.npy       how often each document was trained before a step
    results/orders/{family}.npy                 an order that is rebuilt from its seed
    results/texts/{dataset}/original.parquet    the rows that are evaluated
    results/aside/{dataset}.parquet             rows that never are
    results/overlap/{dataset}.json              non-members that share long pieces with members
"""


include: "functions/checkpoints.smk"


DRAWN = {
    source: [
        name
        for name, entry in REGISTRY.datasets.items()
        if entry.get("source") == source
    ]
    for source in ("checkpoint", "published")
}


rule count_exposures:
    """Document lengths in, how often each document was trained before a step out."""
    output:
        "<results>/exposures/{family}/{step}.npy",
    log:
        "<results>/logs/count_exposures/{family}/{step}.log",
    benchmark:
        "<results>/benchmarks/count_exposures/{family}/{step}.tsv"
    wildcard_constraints:
        family=any_of(REGISTRY.families),
        step=r"\d+",
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=12000,
        runtime=240,
    params:
        root=root,
        code=code_hash("scripts.checkpoints.exposure"),
        settings=exposure_settings,
        lock=LOCK,
    shell:
        hub_step(
            "scripts.checkpoints.count", "--lock {params.lock:q} --seen {output:q}"
        )


rule rebuild_order:
    """Sizes of token files in, the permutation of their instances out."""
    output:
        "<results>/orders/{family}.npy",
    log:
        "<results>/logs/rebuild_order/{family}.log",
    benchmark:
        "<results>/benchmarks/rebuild_order/{family}.tsv"
    wildcard_constraints:
        family=any_of(REGISTRY.families),
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=6000,
        runtime=120,
    params:
        root=root,
        code=code_hash("scripts.checkpoints.instances"),
        settings=order_rebuilt,
        lock=LOCK,
    shell:
        hub_step(
            "scripts.checkpoints.permute", "--lock {params.lock:q} --order {output:q}"
        )


rule sample_rows:
    """A family's files in, its drawn rows with labels, steps and exposures out."""
    input:
        drawn_files,
    output:
        texts="<results>/texts/{dataset}/original.parquet",
        aside="<results>/aside/{dataset}.parquet",
    log:
        "<results>/logs/sample_rows/{dataset}.log",
    benchmark:
        "<results>/benchmarks/sample_rows/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of([*DRAWN["checkpoint"], *DRAWN["published"]]),
    # Compute nodes of a cluster often have no network.
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        root=root,
        code=drawn_code,
        settings=drawn_settings,
    shell:
        hub_step(
            "scripts.texts",
            "--inputs {input:q} --texts {output.texts:q} --aside {output.aside:q}",
        )


rule audit_overlap:
    """Rows before and after a checkpoint in, those that share 64 tokens or more out."""
    input:
        texts="<results>/texts/{dataset}/original.parquet",
        aside="<results>/aside/{dataset}.parquet",
    output:
        "<results>/overlap/{dataset}.json",
    log:
        "<results>/logs/audit_overlap/{dataset}.log",
    benchmark:
        "<results>/benchmarks/audit_overlap/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of([*DRAWN["checkpoint"], *DRAWN["published"]]),
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        root=root,
        code=code_hash("scripts.checkpoints.overlap"),
        settings=overlap_settings,
    shell:
        step(
            "scripts.checkpoints.overlap",
            "--texts {input.texts:q} --aside {input.aside:q} --overlap {output:q}",
        )
