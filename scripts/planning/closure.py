"""Which code decides a file: a content hash over a step and the project modules behind it.

As a param, it reruns a rule when, and only when, code that can change its output changes.
Comments, docstrings and layout do not count; touching, cloning and switching branches do nothing.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path


def code_hash(root: Path, *modules: str) -> str:
    """Digest of `modules` (dotted names) and all project modules that they import.

    Modules chosen at run time (an attack, a source) must be named by the caller: imports are read
    from the source, so only absolute imports count (ruff forbids the others).
    """
    digest = hashlib.sha256()
    for name in sorted(closure(root, *modules)):
        digest.update(f"{name}\0{_meaning(_file(root, name))}\0".encode())
    return digest.hexdigest()[:16]


def closure(root: Path, *modules: str) -> set[str]:
    """Dotted names of `modules`, all project modules behind them, and their packages."""
    found: set[str] = set()
    todo = list(modules)
    for name in modules:
        if _file(root, name) is None:
            raise ValueError(f"no module {name} under {root}")
    while todo:
        name = todo.pop()
        if name in found or _file(root, name) is None:
            continue
        found.add(name)
        # Importing a.b.c runs the __init__ of a and of a.b first.
        todo += _imports(_file(root, name)) | {name.rpartition(".")[0]}
    return found


def _file(root: Path, name: str) -> Path | None:
    """The file of a project module or package, None for anything else."""
    if name != "scripts" and not name.startswith("scripts."):
        return None
    stem = root.joinpath(*name.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from a import b`: b may be a module or a name inside a.
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@cache
def _meaning(path: Path) -> str:
    """The syntax tree without docstrings: what is left of a file when comments do not count."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return ast.dump(tree)
