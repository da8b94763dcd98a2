"""
Pretrace: was this text in the model's pretraining data?

Reads config/ (see config/schema.yaml), writes results/. The steps, each in its own file:

    lab         corpus, tokenizer, training order and models that are made on the spot
    data        texts with labels, selections of them, tags
    tokens      one pass per model, dataset and view: five statistics of every token
    scores      one score per text from the token statistics, per attack
    blind       classifiers that see no model, and the gate that they hold up
    metrics     AUC, TPR at FPR, intervals and paired differences
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
include: "rules/data.smk"
include: "rules/tokens.smk"
include: "rules/scores.smk"
include: "rules/blind.smk"
include: "rules/metrics.smk"
include: "rules/publish.smk"


rule all:
    default_target: True
    input:
        study_files(REGISTRY.config["study"]),
