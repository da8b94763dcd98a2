"""
Combination and decision: from scores to what they say of a text, a group or a whole set.

REQUIRED INPUTS: the texts of a dataset with their labels and scores of attacks.

OUTPUTS:
    results/ensembles/{model}/{dataset}/{ensemble}.parquet          out-of-fold scores of a classifier
    results/transfers/{model}/{transfer}.parquet                    its AUC on other domains
    results/calibration/{model}/{dataset}/{attack}.parquet          p-values and decisions per text
    results/groups/{model}/{dataset}/{attack}.parquet               metrics over groups
    results/inferences/{model}/{dataset}/{inference}.parquet        was this set trained on?
    results/comparisons/{model}/{dataset}/{comparison}.parquet      settings against each other
"""


include: "functions/decide.smk"


rule combine:
    """Scores of several attacks and labels in, out-of-fold scores of a classifier of them out."""
    input:
        unpack(combined_files),
    output:
        "<results>/ensembles/{model}/{dataset}/{ensemble}.parquet",
    log:
        "<results>/logs/combine/{model}/{dataset}/{ensemble}.log",
    benchmark:
        "<results>/benchmarks/combine/{model}/{dataset}/{ensemble}.tsv"
    conda:
        "../envs/ensembles.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        root=root,
        code=combined_code,
        settings=combined_settings,
    shell:
        step(
            "scripts.combine",
            "--texts {input.texts:q} --scores {input.scores:q} --ensemble {output:q}",
        )


rule cross:
    """Scores and labels of several datasets in, the AUC of learning on one and judging another out."""
    input:
        unpack(crossed_files),
    output:
        "<results>/transfers/{model}/{transfer}.parquet",
    log:
        "<results>/logs/cross/{model}/{transfer}.log",
    benchmark:
        "<results>/benchmarks/cross/{model}/{transfer}.tsv"
    conda:
        "../envs/ensembles.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        root=root,
        code=crossed_code,
        settings=crossed_settings,
    shell:
        step(
            "scripts.cross",
            "--texts {input.texts:q} --scores {input.scores:q} --transfer {output:q}",
        )


rule calibrate:
    """Scores and known non-members in; a p-value and a decision for each other text out."""
    input:
        unpack(calibrated_files),
    output:
        "<results>/calibration/{model}/{dataset}/{attack}.parquet",
    log:
        "<results>/logs/calibrate/{model}/{dataset}/{attack}.log",
    benchmark:
        "<results>/benchmarks/calibrate/{model}/{dataset}/{attack}.tsv"
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.calibrate"),
        settings=calibrated_settings,
    shell:
        step(
            "scripts.calibrate",
            "--texts {input.texts:q} --scores {input.scores:q} --other-texts {input.other_texts:q} "
            "--other-scores {input.other_scores:q} --calibration {output:q}",
        )


rule aggregate:
    """Scores and labels of texts in; AUC, intervals and differences over their groups out."""
    input:
        unpack(group_files),
    output:
        "<results>/groups/{model}/{dataset}/{attack}.parquet",
    log:
        "<results>/logs/aggregate/{model}/{dataset}/{attack}.log",
    benchmark:
        "<results>/benchmarks/aggregate/{model}/{dataset}/{attack}.tsv"
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.aggregate"),
        settings=metric_settings,
    shell:
        step(
            "scripts.aggregate",
            "--texts {input.texts:q} --scores {input.scores:q} --loss {input.loss:q} --groups {output:q}",
        )


rule infer:
    """Scores of a suspect and a held-out set in; tests of whether the first was trained on out."""
    input:
        unpack(inferred_files),
    output:
        "<results>/inferences/{model}/{dataset}/{inference}.parquet",
    log:
        "<results>/logs/infer/{model}/{dataset}/{inference}.log",
    benchmark:
        "<results>/benchmarks/infer/{model}/{dataset}/{inference}.tsv"
    conda:
        "../envs/ensembles.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        root=root,
        code=code_hash("scripts.infer"),
        settings=inferred_settings,
    shell:
        step(
            "scripts.infer",
            "--texts {input.texts:q} --scores {input.scores:q} --inference {output:q}",
        )


rule compare:
    """Scores of a family of settings and labels in; their paired differences and p-values out."""
    input:
        unpack(compared_files),
    output:
        "<results>/comparisons/{model}/{dataset}/{comparison}.parquet",
    log:
        "<results>/logs/compare/{model}/{dataset}/{comparison}.log",
    benchmark:
        "<results>/benchmarks/compare/{model}/{dataset}/{comparison}.tsv"
    conda:
        "../envs/scores.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        root=root,
        code=code_hash("scripts.compare"),
        settings=compared_settings,
    shell:
        step(
            "scripts.compare",
            "--texts {input.texts:q} --scores {input.scores:q} --comparison {output:q}",
        )
