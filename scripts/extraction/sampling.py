"""Continuations drawn from a model, each with random numbers of its own."""

import numpy as np
import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from scripts.errors import UserError
from scripts.models.transformers import Backbone

NOTHING = -1  # in place of a token behind the end


class Draw(LogitsProcessor):
    """Leaves one token to choose from: the one that a uniform number picks of the `top_k` largest.

    Tokens are ranked by probability and the number is looked up in their distribution function
    (temperature 1), so a draw depends on its own number and its own text alone.
    """

    def __init__(self, uniforms: np.ndarray, prompt: int, top_k: int):
        self._uniforms = torch.from_numpy(uniforms)  # float64 [rows, tokens], from 0 to below 1
        self._prompt = prompt
        self._top_k = top_k

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores [rows, vocabulary]: 0 for the chosen token of each row, else minus infinity."""
        logits, tokens = scores.float().topk(min(self._top_k, scores.shape[-1]))
        # The few that are left go to the CPU: not every device has float64.
        distribution = logits.cpu().double().softmax(-1).cumsum(-1)
        if not distribution.isfinite().all():
            raise UserError(
                "the model gives values that are not finite; choose a safer dtype for it"
            )
        uniform = self._uniforms[:, input_ids.shape[1] - self._prompt, None]
        place = (distribution <= uniform).sum(-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
        chosen = tokens.gather(-1, place.to(tokens.device))
        return torch.full_like(scores, -torch.inf).scatter(-1, chosen, 0.0)


def continuations(
    backbone: Backbone, prompts: np.ndarray, uniforms: np.ndarray, top_k: int
) -> np.ndarray:
    """Token ids [rows, tokens] written behind `prompts` [rows, prompt], all of one length.

    ``uniforms[i, t]`` decides token t of row i. Behind the end of a text, where the model knows
    one, stands `NOTHING`.
    """
    model = backbone.model
    stops = model.config.eos_token_id
    stops = [] if stops is None else [stops] if isinstance(stops, int) else list(stops)
    rows, tokens = uniforms.shape
    ids = torch.from_numpy(prompts).to(backbone.device)
    # Nothing of what a folder's generation_config.json says: neither temperature nor penalties.
    model.generation_config = GenerationConfig(
        max_new_tokens=tokens,
        do_sample=False,
        eos_token_id=stops or None,
        pad_token_id=stops[0] if stops else 0,
    )
    written = model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        logits_processor=LogitsProcessorList([Draw(uniforms, ids.shape[1], top_k)]),
    )[:, ids.shape[1] :]
    result = np.full((rows, tokens), NOTHING, np.int32)
    result[:, : written.shape[1]] = written.cpu().numpy()
    ended = np.cumsum(np.isin(result, stops), axis=1) > 0
    result[ended] = NOTHING
    return result
