"""The lab's models: GPT-NeoX, Pythia's architecture, and how one step trains them.

Betas, clipping, the cosine to a tenth of the rate and training without dropout are as in Pythia
(Biderman et al. 2023, arXiv:2304.01373); weight decay (0.1) and warm-up (5 %) suit runs of a few
hundred steps.
"""

import math

import numpy as np
import torch
from transformers.models.gpt_neox.configuration_gpt_neox import GPTNeoXConfig
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXForCausalLM

WARM_UP = 0.05  # of all steps
FINAL_RATE = 0.1  # of the peak
CLIP = 1.0  # norm of the gradient


def build(
    hidden: int, layers: int, heads: int, vocab_size: int, window: int, seed: int
) -> GPTNeoXForCausalLM:
    """A model with initial weights drawn from `seed`, fp32; its context is one `window`."""
    torch.manual_seed(seed)
    config = GPTNeoXConfig(
        architectures=[GPTNeoXForCausalLM.__name__],
        vocab_size=vocab_size,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
        max_position_embeddings=window,
        rotary_pct=0.25,
        use_parallel_residual=True,
        tie_word_embeddings=False,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        # The tokenizer has no special tokens: every id is text.
        bos_token_id=None,
        eos_token_id=None,
        dtype="float32",
        attn_implementation="sdpa",
    )
    return GPTNeoXForCausalLM(config).train()


def optimiser(model: torch.nn.Module) -> torch.optim.AdamW:
    """AdamW that decays matrices but neither biases nor the norms' weights."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": 0.1},
        {"params": [p for p in parameters if p.ndim == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.95), fused=True)


def rate(step: int, steps: int) -> float:
    """Learning rate at `step` (from 0) of `steps`, as a share of the peak.

    It rises in a straight line over the warm-up, then falls by a half cosine to `FINAL_RATE`.
    """
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    done = (step - warm) / max(1, steps - 1 - warm)
    return FINAL_RATE + (1 - FINAL_RATE) * (1 + math.cos(math.pi * done)) / 2


def advance(
    model: GPTNeoXForCausalLM,
    adam: torch.optim.AdamW,
    batch: np.ndarray,
    learning_rate: float,
) -> float:
    """Train on `batch` (token ids [batch, window]) once; the mean loss per token, in nats."""
    for group in adam.param_groups:
        group["lr"] = learning_rate
    ids = torch.from_numpy(batch.astype(np.int64))
    loss = model(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    adam.step()
    adam.zero_grad()
    return loss.item()
