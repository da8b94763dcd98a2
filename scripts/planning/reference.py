"""Make docs/config.md from config/schema.yaml: ``python -m scripts.planning.reference``."""

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]

SECTIONS = {
    "config": "config/config.yaml",
    "generation": "config/config.yaml: `generation`",
    "study": "A study: config/studies/{study}.yaml",
    "block": "A block of a study",
    "ensemble": "An ensemble of a study",
    "transfer": "A transfer of a study",
    "inference": "A dataset inference of a study",
    "comparison": "A comparison of a study",
    "item": "A table or figure of a study (further keys: the docstring of its kind)",
    "dataset_file": "config/datasets.yaml: the user's own texts",
    "dataset_hub": "config/datasets.yaml: files of the Hugging Face hub",
    "rewritings": "config/datasets.yaml: `rewritings` of a dataset of the hub",
    "dataset_selection": "config/datasets.yaml: a part of another dataset",
    "dataset_lab": "config/datasets.yaml: windows of the lab",
    "dataset_checkpoint": "config/datasets.yaml: training rows before and after a checkpoint",
    "dataset_published": "config/datasets.yaml: a published split by checkpoint",
    "family": "config/families.yaml: a model family whose training order is known",
    "family_documents": "config/families.yaml, `documents`",
    "rows_shards": "config/families.yaml, `rows`: kind `shards`",
    "rows_samples": "config/families.yaml, `rows`: kind `samples`",
    "rows_instances": "config/families.yaml, `rows`: kind `instances`",
    "rows_parquet": "config/families.yaml, `rows`: kind `parquet`",
    "rows_lines": "config/families.yaml, `rows`: kind `lines`",
    "model_local": "config/models.yaml: a model on this machine",
    "model_hub": "config/models.yaml: a model of the Hugging Face hub",
    "model_gguf": "config/models.yaml: a GGUF file",
    "model_endpoint": "config/models.yaml: an OpenAI-compatible server",
    "model_lab": "config/models.yaml: a model of the lab",
    "attack": "config/attacks.yaml",
    "view": "config/views.yaml",
    "baseline": "config/baselines.yaml",
}


def reference(schema: dict) -> str:
    """The Markdown page: a table of keys, meanings and defaults per definition of the schema."""
    lines = [
        "# Every key of config/",
        "",
        "Made from config/schema.yaml by `python -m scripts.planning.reference`; edit it there.",
        "A wrong key or value stops the workflow with one line that names the file and the key.",
    ]
    for name, heading in SECTIONS.items():
        definition = schema["$defs"][name]
        required = definition.get("required", [])
        lines += ["", f"## {heading}", "", "| key | default | meaning |", "| --- | --- | --- |"]
        for key, value in definition["properties"].items():
            value = {**_definition(schema, value), **value}
            default = "(required)" if key in required else _default(value)
            lines.append(f"| `{key}` | {default} | {value['description']} |")
    return "\n".join(lines) + "\n"


def _definition(schema: dict, value: dict) -> dict:
    """What the key's `$ref` says, where several definitions share a key."""
    return schema["$defs"].get(value.get("$ref", "").removeprefix("#/$defs/"), {})


def _default(value: dict) -> str:
    if "default" not in value:
        return ""
    text = yaml.safe_dump(value["default"], default_flow_style=True, width=1000)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"


def main() -> None:
    """Write docs/config.md."""
    schema = yaml.safe_load((ROOT / "config" / "schema.yaml").read_text(encoding="utf-8"))
    (ROOT / "docs" / "config.md").write_text(reference(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
