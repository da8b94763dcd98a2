"""Make a view: the texts of a dataset rewritten, none, one or many for each.

In: texts and the rows aside (contract TEXTS). Out: contract TEXTS with the labels and groups of the
originals; `variant` numbers several texts made from one, `prefix` holds shots to be read before it.
"""

import importlib
import inspect
import sys
from collections.abc import Mapping
from types import ModuleType

import pyarrow as pa

from scripts.cli import arguments, run
from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.seeds import derive


def main() -> None:
    """Rewrite the texts of one dataset with one module of scripts/views/."""
    args = arguments(__doc__, ["texts", "aside", "rewritten"])
    settings = args.settings
    texts = TEXTS.read(args.texts)
    module = importlib.import_module(f"scripts.views.{settings['maker']}")
    rewritten = _rewrite(module, texts, TEXTS.read(args.aside), settings)
    about = {"texts": provenance(args.texts), **counts(texts, rewritten)}
    if "token_ids" in rewritten.column_names:
        about["tokenizer"] = about["texts"]["tokenizer"]
    TEXTS.write(args.rewritten, rewritten, {**settings, **about})
    print(
        f"{settings['view']}: {len(rewritten)} texts from {len(texts)}; "
        f"{about['unchanged']} as they were, {about['without']} originals without any",
        file=sys.stderr,
    )


def counts(texts: pa.Table, rewritten: pa.Table) -> dict[str, int]:
    """Rewritten texts that equal their original, and originals from which none was made."""
    original = dict(zip(texts["text_id"].to_pylist(), texts["text"].to_pylist(), strict=True))
    names = rewritten["text_id"].to_pylist()
    pairs = zip(names, rewritten["text"].to_pylist(), strict=True)
    return {
        "unchanged": sum(original[name] == text for name, text in pairs),
        "without": len(original) - len(set(names)),
    }


def _rewrite(
    module: ModuleType, texts: pa.Table, aside: pa.Table, settings: Mapping[str, object]
) -> pa.Table:
    view, given = settings["view"], settings["settings"]
    seed = derive(settings["seed"], view, settings["dataset"])
    try:
        inspect.signature(module.rewrite).bind(texts, aside, seed=seed, **given)
    except TypeError as error:
        valid = ", ".join(list(inspect.signature(module.rewrite).parameters)[3:]) or "none"
        raise UserError(
            f"config/views.yaml: {view}.settings: {error}; its settings: {valid}"
        ) from None
    try:
        return module.rewrite(texts, aside, seed=seed, **given)
    except UserError as error:
        raise UserError(f"view {view} of {settings['dataset']}: {error}") from None


if __name__ == "__main__":
    run(main)
