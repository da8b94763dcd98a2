"""Read the YAML files of config/ and check them against config/schema.yaml.

Every mistake is one line: the file, the path of the key, what is wrong, the nearest valid name.
"""

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from scripts.errors import UserError

# The same in C, ten times as fast, where PyYAML was built with it: each job reads config/.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: Path, definition: str, schema: Path) -> dict:
    """The content of a YAML file, checked against `definition` of `schema`."""
    return check(read(path), definition, schema, str(path))


def read(path: Path) -> dict:
    """The mapping that a YAML file holds (an empty file holds an empty one)."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise UserError(f"{path}:{where} not valid YAML: {problem}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected `key: value` lines, found {_kind(content)}")
    return content


def check(content: Mapping, definition: str, schema: Path, where: str) -> dict:
    """`content` with the defaults of `definition` filled in at its top level.

    `where` names the file (and the key) in the error.
    """
    tree = _schema(schema)
    validator = Draft202012Validator({**tree, "$ref": f"#/$defs/{definition}"})
    # A misspelt key is often also a missing one: the misspelling says more.
    errors = sorted(
        validator.iter_errors(content), key=lambda e: e.validator != "additionalProperties"
    )
    if errors:
        raise UserError(_message(errors[0], where))
    properties = tree["$defs"][definition].get("properties", {})
    defaults = {key: value["default"] for key, value in properties.items() if "default" in value}
    return {**defaults, **content}


def nearest(name: str, valid: Iterable[str]) -> str:
    """`; did you mean 'x'?` where a valid name is close, else the list of valid names."""
    valid = sorted(str(v) for v in valid)
    close = difflib.get_close_matches(str(name), valid, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    listed = ", ".join(valid[:8]) + (", …" if len(valid) > 8 else "")
    return f"; valid: {listed}" if valid else ""


@cache
def _schema(path: Path) -> dict:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)


def _message(error: ValidationError, where: str) -> str:
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
    ).lstrip(".")
    at = f"{where}: {path}: " if path else f"{where}: "
    value = error.instance
    if error.validator == "additionalProperties":
        valid = error.schema.get("properties", {})
        unknown = next(key for key in value if key not in valid)
        return f"{at}unknown key '{unknown}'{nearest(unknown, valid)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in value)
        return f"{at}the key '{missing}' is missing"
    if error.validator == "type":
        expected = error.validator_value
        expected = expected if isinstance(expected, str) else " or ".join(expected)
        return f"{at}expected {_NAMES.get(expected, expected)}, found {_kind(value)}"
    if error.validator == "enum":
        return f"{at}'{value}' is not valid{nearest(value, error.validator_value)}"
    if error.validator in ("oneOf", "pattern") and "description" in error.schema:
        return f"{at}'{value}' is not valid: {error.schema['description']}"
    if error.validator in ("pattern", "propertyNames"):
        return f"{at}'{value}' is not a valid name: use letters, digits and . _ ( ) -"
    return f"{at}{error.message}"


_NAMES = {"object": "`key: value` lines", "array": "a list", "string": "a text"}


def _kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "`key: value` lines"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else repr(value)


class _UniqueKeys(_Loader):
    """A key given twice is a mistake: plain YAML would keep the last one in silence."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = key_node.value
            if isinstance(key, str) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands here twice", key_node.start_mark
                )
            if isinstance(key, str):
                seen.add(key)
        return super().construct_mapping(node, deep)
