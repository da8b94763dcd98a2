"""code_hash sees exactly the code that a step runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.planning.closure import closure, code_hash

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tree(tmp_path):
    """A small project: step -> a (cyclic with b) and, chosen at run time, an attack."""
    files = {
        "__init__": '"""Root."""\n',
        "step": "import numpy\nfrom scripts.lib.a import f\n",
        "lib/__init__": "",
        "lib/a": "import scripts.lib.b\n\n\ndef f():\n    return 1\n",
        "lib/b": "from scripts.lib import a\n\nX = 1\n",
        "lib/unused": "Y = 1\n",
        "attacks/__init__": "",
        "attacks/one": "def score():\n    return 1\n",
    }
    for name, text in files.items():
        path = tmp_path / "scripts" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def fresh(tree, *modules):
    """The hash as a new process sees it: parsed files are cached within one."""
    code = "import sys; from pathlib import Path; from scripts.planning.closure import code_hash; "
    code += "print(code_hash(Path(sys.argv[1]), *sys.argv[2:]))"
    return subprocess.run(
        [sys.executable, "-c", code, str(tree), *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_closure_follows_cycles_packages_and_named_modules(tree):
    assert closure(tree, "scripts.step", "scripts.attacks.one") == {
        "scripts",
        "scripts.step",
        "scripts.lib",
        "scripts.lib.a",
        "scripts.lib.b",
        "scripts.attacks",
        "scripts.attacks.one",
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("lib/b", "X = 1", "X = 2", True),
        ("lib/a", "return 1", "return 2", True),
        ("lib/__init__", "", "Z = 1\n", True),
        ("__init__", "Root", "The root", False),
        ("lib/b", "X = 1", "# a comment\nX =  1", False),
        ("lib/a", "def f():\n", 'def f():\n    """Doc."""\n', False),
        ("lib/unused", "Y = 1", "Y = 2", False),
        ("attacks/one", "return 1", "return 2", False),
    ],
)
def test_only_meaning_within_the_closure_counts(tree, file, old, new, changes):
    before = fresh(tree, "scripts.step")
    edit(tree / "scripts" / f"{file}.py", old, new) if old else (
        tree / "scripts" / f"{file}.py"
    ).write_text(new)
    assert (fresh(tree, "scripts.step") != before) is changes


def test_an_unknown_module_is_an_error(tree):
    with pytest.raises(ValueError, match=r"scripts\.nothing"):
        code_hash(tree, "scripts.nothing")


@pytest.mark.parametrize(
    "modules",
    [
        ("scripts.score", "scripts.attacks.min_k"),
        ("scripts.score", "scripts.attacks.tag_tab"),
        ("scripts.texts", "scripts.sources.file"),
        ("scripts.texts", "scripts.sources.lab"),
        ("scripts.select",),
        ("scripts.metrics",),
        ("scripts.gate",),
        ("scripts.combine", "scripts.learners.xgboost"),
        ("scripts.cross", "scripts.learners.logistic_regression"),
        ("scripts.calibrate",),
        ("scripts.aggregate",),
        ("scripts.infer",),
        ("scripts.compare",),
        ("scripts.tokens",),
        ("scripts.gradients",),
        ("scripts.generate",),
        ("scripts.view", "scripts.views.neighbours"),
        ("scripts.view", "scripts.views.synonyms"),
        ("scripts.texts", "scripts.sources.view"),
        ("scripts.tag", "scripts.tagging.en"),
        ("scripts.tag", "scripts.tagging.zh"),
        ("scripts.blind", "scripts.baselines.bow"),
        ("scripts.lab.train",),
    ],
)
def test_closure_holds_all_that_a_real_process_loads(modules):
    code = f"import sys, {', '.join(modules)}\n"
    code += "print(*sorted(m for m in sys.modules if m == 'scripts' or m.startswith('scripts.')))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(loaded) <= closure(ROOT, *modules)


@pytest.mark.parametrize(
    "step", ["scripts.tokens", "scripts.gradients", "scripts.generate", "scripts.lab.train"]
)
def test_what_costs_a_pass_or_a_training_knows_no_evaluation(step):
    """A change of table, metric or attack code must never plan a pass."""
    known = {name.split(".")[1] for name in closure(ROOT, step) if "." in name}
    assert not known & {"evaluation", "publish", "attacks", "planning", "metrics", "gate"}
