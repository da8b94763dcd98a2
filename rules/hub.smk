"""
Models of the Hugging Face hub.

REQUIRED INPUTS: entries with `source: hub` in config/models.yaml or in a study; the network, or a
hub cache that has them (HF_HUB_CACHE, HF_HUB_OFFLINE=1). HF_ENDPOINT and HF_TOKEN are honoured.

OUTPUTS:
    config/hub.lock.yaml            the commit of each revision; commit this file
    results/audits/{model}.json     branches whose weights were compared with a checkpoint's
    results/models/{model}/         hub.json with commit, sizes and hashes; links into the hub cache
"""


include: "functions/hub.smk"


# Also where an importing workflow has put results elsewhere.
HUB_FOLDER = workflow.pathvars.apply("<results>/models")
HUB_MODELS = [
    name for name, entry in REGISTRY.models.items() if entry["source"] == "hub"
]


rule audit_weights:
    """Listings of a repository in, hashes of a checkpoint's weights beside its siblings' out."""
    output:
        "<results>/audits/{model}.json",
    log:
        "<results>/logs/audit_weights/{model}.log",
    wildcard_constraints:
        model=any_of(HUB_MODELS),
    # Compute nodes of a cluster often have no network.
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.hub.audit"),
        settings=audit_settings,
        siblings=siblings,
        lock=LOCK,
    shell:
        hub_step(
            "scripts.hub.audit",
            "--lock {params.lock:q} --siblings {params.siblings:q} --audit {output:q}",
        )


rule fetch_model:
    """A revision of a repository in, its model folder out; weights stay in the hub cache."""
    input:
        audit_of,
    output:
        "<results>/models/{model}/hub.json",
    log:
        "<results>/logs/fetch_model/{model}.log",
    wildcard_constraints:
        model=any_of(HUB_MODELS),
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=12000,
        runtime=1440,
    params:
        root=root,
        code=model_code,
        settings=model_settings,
        lock=LOCK,
    shell:
        hub_step("scripts.hub.fetch", "--lock {params.lock:q} --manifest {output:q}")


# `snakemake plan_{study}`: what the study will fetch.
for study in STUDIES:

    rule:
        name:
            f"plan_{study}"
        log:
            f"<results>/logs/plan/{study}.log",
        localrule: True
        conda:
            "../envs/models.yaml"
        resources:
            mem_mb=1000,
            runtime=30,
        params:
            root=root,
            settings=plan_settings(study),
            lock=LOCK,
        shell:
            hub_step("scripts.hub.plan", "--lock {params.lock:q}")
