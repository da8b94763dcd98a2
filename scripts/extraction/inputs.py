"""What every step that runs a model reads first: texts, and their tokens for this model."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from tokenizers import Tokenizer

from scripts.contracts.table import provenance
from scripts.contracts.texts import TEXTS
from scripts.errors import UserError
from scripts.extraction.encoding import Encoded, encode, load_tokenizer
from scripts.models.origin import origin


@dataclass(frozen=True)
class Inputs:
    """Texts (contract TEXTS), their tokens in the same order, and where both come from."""

    texts: pa.Table
    encoded: Encoded
    tokenizer: Tokenizer
    about: dict  # provenance for the footer of what is made of them


def read_inputs(model: Path, path: Path) -> Inputs:
    """Read the file of texts at `path` for the model folder `model`.

    UserError where it holds none, or where its token ids come from another tokenizer.
    """
    texts = TEXTS.read(path)
    if not len(texts):
        raise UserError(f"{path} holds no texts; check the dataset's entry")
    footer = provenance(path)
    tokenizer, own = load_tokenizer(model)
    made_with = footer.get("tokenizer")
    if "token_ids" in texts.column_names and made_with != own:
        raise UserError(
            f"{path}: its token_ids come from another tokenizer (sha256 "
            f"{(made_with or 'not recorded')[:12]}) than {model / 'tokenizer.json'} "
            f"({own[:12]}); a dataset with ids serves only models with its own tokenizer: choose "
            "one, or a dataset of plain texts"
        )
    encoded = encode(tokenizer, texts, special="prefix" not in texts.column_names)
    about = {"texts": footer, "tokenizer": own, **origin(model)}
    return Inputs(texts, encoded, tokenizer, about)
