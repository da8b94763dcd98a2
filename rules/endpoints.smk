"""
Endpoints: models that a server reads texts with.

REQUIRED INPUTS: entries with `source: endpoint` in config/models.yaml or in a study, the tokenizer
that they name, and an OpenAI-compatible completions server. A key comes from the environment only.

OUTPUTS:
    results/tokens/{model}/{dataset}/{view}.parquet     the log-prob of every token, and the largest
"""


include: "functions/endpoints.smk"


rule ask:
    """A tokenizer and texts in, what a server says of the probability of each token out."""
    input:
        model=model_files,
        texts=texts_of_view,
    output:
        "<results>/tokens/{model}/{dataset}/{view}.parquet",
    log:
        "<results>/logs/ask/{model}/{dataset}/{view}.log",
    benchmark:
        "<results>/benchmarks/ask/{model}/{dataset}/{view}.tsv"
    wildcard_constraints:
        model=any_of(ENDPOINTS),
        dataset=any_of(SOURCED),
        view=any_of(["original", *REWRITTEN]),
    # Compute nodes of a cluster often have no network, and no key.
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=2000,
        runtime=1440,
    params:
        root=root,
        code=code_hash("scripts.ask"),
        settings=asking_settings,
        folder=model_folder,
        server=server,
    shell:
        "PRETRACE_SERVER={params.server:q} "
        + step(
            "scripts.ask",
            "--model {params.folder:q} --texts {input.texts:q} --tokens {output:q}",
        )
