"""What tables, figures and reports read and depend on."""


def metrics_of(cells):
    return [
        f"<results>/metrics/{cell.model}/{cell.dataset}/{cell.attack}.parquet"
        for cell in cells
    ]


def gates(datasets):
    return [f"<results>/gates/{dataset}.parquet" for dataset in datasets]


def item_of(kind, wildcards):
    """The study, the table or figure (`kind`), and the cells of metrics that it is made from."""
    study = STUDIES[wildcards.study]
    item = study.entry[kind][wildcards.item]
    return study, item, planning.shown(study, kind, item)


def found(study, item):
    """The files beyond metrics that a table or figure is made from."""
    paths = planning.found(REGISTRY, study, item)
    return [f"<results>/{path}.parquet" for path in paths]


def table_files(wildcards):
    study, item, cells = item_of("tables", wildcards)
    return {
        "metrics": metrics_of(cells),
        "gates": gates(planning.gated(REGISTRY, study, "tables", item)),
        "found": found(study, item),
    }


def figure_files(wildcards):
    study, item, cells = item_of("figures", wildcards)
    texts = dict.fromkeys(cell.dataset for cell in cells)
    scores = [scores_file(*cell) for cell in cells]
    return {
        "metrics": metrics_of(cells),
        "gates": gates(planning.gated(REGISTRY, study, "figures", item)),
        "scores": list(dict.fromkeys(scores)),
        "texts": [f"<results>/texts/{dataset}/original.parquet" for dataset in texts],
        "found": found(study, item),
    }


def item_settings(kind, wildcards):
    study = STUDIES[wildcards.study]
    return settings(**planning.item_settings(REGISTRY, study, kind, wildcards.item))


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
    cells = STUDIES[wildcards.study].cells()
    datasets = dict.fromkeys(cell.dataset for cell in cells)
    return gates(d for d in datasets if REGISTRY.baselines_of(d))


def study_calibrations(wildcards):
    study = STUDIES[wildcards.study]
    paths = [
        path for item in study.entry["tables"].values() for path in found(study, item)
    ]
    return [
        path
        for path in dict.fromkeys(paths)
        if path.startswith("<results>/calibration/")
    ]


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
    cells = planning.everything(REGISTRY, STUDIES[wildcards.study])
    models = dict.fromkeys(cell.model for cell in cells)
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
