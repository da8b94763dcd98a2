"""The rewritten texts of another dataset (a view of it), to be attacked themselves.

They keep names, labels and groups, so that scores can be compared with those of the originals. The
rows aside are those of the other dataset, not rewritten.
"""

from pathlib import Path

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.sources.loaded import Loaded

OF_VIEWS = ("variant", "prefix")  # columns that the texts of a dataset do not have


def load(inputs: list[Path], settings: dict) -> Loaded:
    """The texts of ``[view, aside]``; UserError where the view has not one text for each."""
    view, aside = inputs
    texts, footer = TEXTS.read(view), provenance(view)
    if "prefix" in texts.column_names:
        raise UserError(
            f"dataset {settings['dataset']}: the texts of the view {footer['view']} are not "
            "rewritten but read behind others; name another view"
        )
    names = texts["text_id"].to_pylist()
    without = footer["without"]
    if without or len(set(names)) < len(names):
        raise UserError(
            f"dataset {settings['dataset']}: the view {footer['view']} has {len(names)} texts and "
            f"none for {without} originals; a dataset needs one for each"
        )
    kept = [name for name in texts.column_names if name not in OF_VIEWS]
    return Loaded(texts.select(kept), TEXTS.read(aside), {"view": footer})
