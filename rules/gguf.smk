"""
GGUF files as models.

REQUIRED INPUTS: entries with `source: gguf` in config/models.yaml or in a study, and their files.

OUTPUTS:
    results/models/{model}/     config.json and tokenizer.json made from the file, and gguf.json that
                                names it; the weights stay where they are
"""


include: "functions/gguf.smk"


rule describe_gguf:
    """A GGUF file in, its configuration and tokenizer in the formats of transformers out."""
    input:
        named_files,
    output:
        config="<results>/models/{model}/config.json",
        tokenizer="<results>/models/{model}/tokenizer.json",
        record="<results>/models/{model}/gguf.json",
    log:
        "<results>/logs/describe_gguf/{model}.log",
    wildcard_constraints:
        model=any_of(GGUF),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        root=root,
        code=code_hash("scripts.models.gguf"),
        settings=settings(),
        gguf=gguf_file,
        tokenizer=own_tokenizer,
    shell:
        step(
            "scripts.models.gguf",
            "--gguf {params.gguf:q} --tokenizer {params.tokenizer:q} --config {output.config:q}",
        )
