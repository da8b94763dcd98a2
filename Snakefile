"""
Pretrace: was this text in the model's pretraining data?

Reads config/ (see config/schema.yaml), writes results/. The steps, each in its own file:

    lab         corpus, tokenizer, training order and models that are made on the spot
    hub         models of the Hugging Face hub: pinned, audited, fetched, checked
    data        texts with labels, selections of them, tags
    checkpoints training rows of published models before and after a checkpoint
    views       texts rewritten: lower-cased, with neighbours, behind prefixes
    tokens      one pass per model, dataset and view: five statistics of every token
    gguf        model folders that stand for GGUF files
    endpoints   what a server says of texts, in place of a pass
    gradients   norms of the gradient of every text
    generations what a model writes behind the first part of every text
    scores      one score per text from the token statistics, per attack
    blind       classifiers that see no model, and the gate that they hold up
    metrics     AUC, TPR at FPR, intervals and paired differences
    decide      ensembles, transfers, thresholds, groups, dataset inference, comparisons
    publish     tables, figures, sanity checks and a report, per study

`snakemake lab` builds a study, `snakemake results/studies/lab/table_2.csv` one table of it.
"""

from snakemake.utils import min_version

min_version("9.27")


report: "report/workflow.rst"


include: "rules/common.smk"


pathvars:
    results=RESULTS,


include: "rules/lab.smk"
include: "rules/hub.smk"
include: "rules/data.smk"
include: "rules/checkpoints.smk"
include: "rules/views.smk"
include: "rules/tokens.smk"
include: "rules/gguf.smk"
include: "rules/endpoints.smk"
include: "rules/gradients.smk"
include: "rules/generations.smk"
include: "rules/scores.smk"
include: "rules/blind.smk"
include: "rules/metrics.smk"
include: "rules/decide.smk"
include: "rules/publish.smk"


rule all:
    default_target: True
    input:
        study_files(REGISTRY.config["study"]),
