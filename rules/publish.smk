"""
Studies: tables, figures, sanity checks and a report from metrics.

REQUIRED INPUTS: a study in config/studies/ and the metrics of its blocks.

OUTPUTS, in results/studies/{study}/:
    {table}.csv, .tex, .md, .html       the same rows four times; the CSV has full precision
    {figure}.svg, .pdf, .png
    sanity.json                         checks that the study declares, computed
    report.html                         one self-contained page
"""


def metrics_of(cells):
    return [
        f"<results>/metrics/{cell.model}/{cell.dataset}/{cell.attack}.parquet"
        for cell in cells
    ]


def gates_of(cells):
    datasets = dict.fromkeys(cell.dataset for cell in cells)
    return [
        f"<results>/gates/{dataset}.parquet"
        for dataset in datasets
        if REGISTRY.baselines_of(dataset)
    ]


def shown(study, kind, name):
    """The cells that a table or figure is made from.

    A table reads all attacks: Holm's family is all settings of a model and dataset in the study.
    """
    item = STUDIES[study].entry[kind][name]
    keys = (
        ("models", "datasets")
        if kind == "tables"
        else ("models", "datasets", "attacks")
    )
    return STUDIES[study].cells(**{key: item[key] for key in keys if key in item})


def table_files(wildcards):
    cells = shown(wildcards.study, "tables", wildcards.item)
    return {"metrics": metrics_of(cells), "gates": gates_of(cells)}


def figure_files(wildcards):
    cells = shown(wildcards.study, "figures", wildcards.item)
    texts = dict.fromkeys(cell.dataset for cell in cells)
    scores = dict.fromkeys(
        (cell.model, REGISTRY.pool(cell.dataset), cell.attack) for cell in cells
    )
    return {
        "metrics": metrics_of(cells),
        "gates": gates_of(cells),
        "scores": [f"<results>/scores/{'/'.join(score)}.parquet" for score in scores],
        "texts": [f"<results>/texts/{dataset}/original.parquet" for dataset in texts],
    }


def item_settings(kind, wildcards):
    item = STUDIES[wildcards.study].entry[kind][wildcards.item]
    cells = shown(wildcards.study, kind, wildcards.item)
    named = {"study": wildcards.study, "name": wildcards.item, "title": wildcards.item}
    return settings(**{**named, **planning.captions(REGISTRY, cells), **item})


def item_code(kind, wildcards):
    item = STUDIES[wildcards.study].entry[kind][wildcards.item]
    return code_hash(
        f"scripts.publish.{kind[:-1]}", f"scripts.publish.{kind}.{item['kind']}"
    )


def table_settings(wildcards):
    return item_settings("tables", wildcards)


def table_code(wildcards):
    return item_code("tables", wildcards)


def figure_settings(wildcards):
    return item_settings("figures", wildcards)


def figure_code(wildcards):
    return item_code("figures", wildcards)


def caption(kind, wildcards):
    return STUDIES[wildcards.study].entry[kind][wildcards.item].get("caption", "")


def table_caption(wildcards):
    return caption("tables", wildcards)


def figure_caption(wildcards):
    return caption("figures", wildcards)


def items(kind):
    """A wildcard constraint: names of tables or figures of any study."""
    return any_of({name for study in STUDIES.values() for name in study.entry[kind]})


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
            "--metrics {input.metrics:q} --gates {input.gates:q} "
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
            "--svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}",
        )


def study_metrics(wildcards):
    return metrics_of(STUDIES[wildcards.study].cells())


def study_gates(wildcards):
    return gates_of(STUDIES[wildcards.study].cells())


def checks(wildcards):
    return settings(
        study=wildcards.study, checks=STUDIES[wildcards.study].entry["checks"]
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


def published(kind, suffix):
    """An input function: the study's tables or figures in one format."""

    def files(wildcards):
        names = STUDIES[wildcards.study].entry[kind]
        return [
            f"<results>/studies/{wildcards.study}/{name}.{suffix}" for name in names
        ]

    return files


def report_settings(wildcards):
    return settings(**planning.report_settings(REGISTRY, STUDIES[wildcards.study]))


def benchmarks(wildcards, output):
    return str(Path(output[0]).parents[2] / "benchmarks")


def template_hash():
    return planning.content_hash(ROOT / "report" / "report.html.j2")


def training_records(wildcards):
    models = dict.fromkeys(cell.model for cell in STUDIES[wildcards.study].cells())
    lab = [model for model in models if REGISTRY.models[model]["source"] == "lab"]
    return [f"<results>/models/{model}/training.json" for model in lab]


rule report:
    """All that a study published in, one self-contained page out."""
    input:
        tables=published("tables", "html"),
        figures=published("figures", "svg"),
        metrics=study_metrics,
        gates=study_gates,
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
            "--sanity {input.sanity:q} --trainings {input.trainings:q} --benchmarks {params.benchmarks:q} --report {output:q}",
        )


def study_files(study):
    """All that a study publishes."""
    entry = STUDIES[study].entry
    folder = f"<results>/studies/{study}"
    return [
        *(
            f"{folder}/{name}.{suffix}"
            for name in entry["tables"]
            for suffix in ("csv", "tex", "md", "html")
        ),
        *(
            f"{folder}/{name}.{suffix}"
            for name in entry["figures"]
            for suffix in ("svg", "pdf", "png")
        ),
        f"{folder}/sanity.json",
        f"{folder}/report.html",
    ]


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
        list(
            {
                f"<results>/scores/{c.model}/{REGISTRY.pool(c.dataset)}/{c.attack}.parquet": None
                for c in DEFAULT
            }
        ),


rule metrics:
    """The metrics of the default study."""
    input:
        metrics_of(DEFAULT),
