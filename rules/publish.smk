"""
Studies: tables, figures, sanity checks and a report from metrics.

REQUIRED INPUTS: a study in config/studies/ and the metrics of its blocks.

OUTPUTS, in results/studies/{study}/:
    {table}.csv, .tex, .md, .html       the same rows four times; the CSV has full precision
    {figure}.svg, .pdf, .png
    sanity.json                         checks that the study declares, computed
    report.html                         one self-contained page
"""


include: "functions/publish.smk"


rule table:
    """Metrics and gates of a study's cells in, one table in four formats out."""
    input:
        unpack(table_files),
    output:
        csv=report(
            "<results>/studies/{study}/{item}.csv",
            category="{study}",
            subcategory="Tables",
            caption="../report/table.rst",
            labels={"table": "{item}"},
        ),
        tex="<results>/studies/{study}/{item}.tex",
        md="<results>/studies/{study}/{item}.md",
        html="<results>/studies/{study}/{item}.html",
    log:
        "<results>/logs/table/{study}/{item}.log",
    wildcard_constraints:
        item=items("tables"),
    conda:
        "../envs/publish.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=table_code,
        settings=table_settings,
        caption=table_caption,
    shell:
        step(
            "scripts.publish.table",
            "--metrics {input.metrics:q} --gates {input.gates:q} --found {input.found:q} "
            "--csv {output.csv:q} --tex {output.tex:q} --md {output.md:q} --html {output.html:q}",
        )


rule figure:
    """Metrics, scores and labels of a study's cells in, one figure in three formats out."""
    input:
        unpack(figure_files),
    output:
        svg=report(
            "<results>/studies/{study}/{item}.svg",
            category="{study}",
            subcategory="Figures",
            caption="../report/figure.rst",
            labels={"figure": "{item}"},
        ),
        pdf="<results>/studies/{study}/{item}.pdf",
        png="<results>/studies/{study}/{item}.png",
    log:
        "<results>/logs/figure/{study}/{item}.log",
    wildcard_constraints:
        item=items("figures"),
    conda:
        "../envs/publish.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=figure_code,
        settings=figure_settings,
        caption=figure_caption,
    shell:
        step(
            "scripts.publish.figure",
            "--metrics {input.metrics:q} --gates {input.gates:q} --scores {input.scores:q} --texts {input.texts:q} "
            "--found {input.found:q} --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}",
        )


rule sanity:
    """All metrics and gates of a study in, its declared checks with their values out."""
    input:
        metrics=study_metrics,
        gates=study_gates,
    output:
        "<results>/studies/{study}/sanity.json",
    log:
        "<results>/logs/sanity/{study}.log",
    conda:
        "../envs/publish.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.publish.sanity"),
        settings=checks,
    shell:
        step(
            "scripts.publish.sanity",
            "--metrics {input.metrics:q} --gates {input.gates:q} --sanity {output:q}",
        )


rule report:
    """All that a study published in, one self-contained page out."""
    input:
        tables=published("tables", "html"),
        figures=published("figures", "svg"),
        metrics=study_metrics,
        gates=study_gates,
        calibrations=study_calibrations,
        sanity="<results>/studies/{study}/sanity.json",
        trainings=training_records,
    output:
        report(
            "<results>/studies/{study}/report.html",
            category="{study}",
            caption="../report/report.rst",
            labels={"report": "{study}"},
        ),
    log:
        "<results>/logs/report/{study}.log",
    conda:
        "../envs/publish.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        root=root,
        code=code_hash("scripts.publish.report") + template_hash(),
        settings=report_settings,
        benchmarks=benchmarks,
    shell:
        step(
            "scripts.publish.report",
            "--tables {input.tables:q} --figures {input.figures:q} --metrics {input.metrics:q} --gates {input.gates:q} "
            "--calibrations {input.calibrations:q} --sanity {input.sanity:q} --trainings {input.trainings:q} --benchmarks {params.benchmarks:q} --report {output:q}",
        )


# `snakemake {study}` for each file in config/studies/.
for study in STUDIES:

    rule:
        name:
            study
        input:
            study_files(study),


# `snakemake texts`, `tokens`, `scores`, `metrics`: the default study, halfway.
DEFAULT = STUDIES[REGISTRY.config["study"]].cells()


rule texts:
    """The texts of the default study."""
    input:
        [
            f"<results>/texts/{dataset}/original.parquet"
            for dataset in {cell.dataset: None for cell in DEFAULT}
        ],


rule tokens:
    """The passes of the default study."""
    input:
        list(
            {
                f"<results>/tokens/{c.model}/{REGISTRY.pool(c.dataset)}/original.parquet": None
                for c in DEFAULT
            }
        ),


rule scores:
    """The scores of the default study."""
    input:
        list({scores_file(*c): None for c in DEFAULT}),


rule metrics:
    """The metrics of the default study."""
    input:
        metrics_of(DEFAULT),
