"""What tables, figures and reports read and depend on."""


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


def study_metrics(wildcards):
    return metrics_of(STUDIES[wildcards.study].cells())


def study_gates(wildcards):
    return gates_of(STUDIES[wildcards.study].cells())


def checks(wildcards):
    return settings(
        study=wildcards.study, checks=STUDIES[wildcards.study].entry["checks"]
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
