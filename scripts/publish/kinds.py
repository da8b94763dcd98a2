"""Finds the module of a kind of table or figure."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from scripts.errors import UserError


def load_kind(package: str, kind: str, where: str) -> ModuleType:
    """The module ``scripts.publish.{package}.{kind}``; UserError where there is none."""
    name = f"scripts.publish.{package}.{kind}"
    if not kind.isidentifier() or find_spec(name) is None:
        raise UserError(f"{where}: no kind '{kind}'; see scripts/publish/{package}/")
    return import_module(name)
