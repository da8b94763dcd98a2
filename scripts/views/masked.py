"""What a masked language model proposes in the place of each token of a text."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from scripts.errors import UserError

ROWS = 64  # copies of a text that the model reads at once


@dataclass(frozen=True)
class Proposals:
    """What could stand in the place of one token: `words` with their scores, best first."""

    start: int  # characters of the text
    end: int
    words: list[str]
    scores: np.ndarray


class Proposer:
    """A masked language model with its tokenizer; see scripts.views.neighbours for the scores."""

    def __init__(self, model: str, revision: str | None, dropout: float, top: int, device):
        self._tokenizer, self._model = _load(model, revision, device)
        self._dropout, self._top = dropout, top
        self._special = sorted(set(self._tokenizer.all_special_ids))
        tokens = self._tokenizer.convert_ids_to_tokens(range(len(self._tokenizer)))
        pieces = any(token.startswith("##") for token in tokens)
        # Whether a token begins a word, in the spelling of WordPiece or of the others.
        begins = [t[:2] != "##" if pieces else t[:1] in ("Ġ", "▁") for t in tokens]
        self._begins = torch.tensor(begins, device=device)

    @torch.inference_mode()
    def propose(self, text: str, seed: int) -> list[Proposals]:
        """Proposals for every token of `text` that has any; `seed` draws the dropout."""
        encoding = self._tokenizer(
            text,
            truncation=True,
            max_length=self._longest(),
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        ids = torch.tensor(encoding["input_ids"], device=self._begins.device)
        places = [i for i, special in enumerate(encoding["special_tokens_mask"]) if not special]
        drawn = torch.Generator().manual_seed(seed)
        proposals = []
        for start in range(0, len(places), ROWS):
            some = places[start : start + ROWS]
            scores, tokens = self._scores(ids, torch.tensor(some, device=ids.device), drawn)
            for place, own, row in zip(some, scores.tolist(), tokens.tolist(), strict=True):
                span = encoding["offset_mapping"][place]
                proposals.append(self._proposals(text, *span, own, row))
        return [proposal for proposal in proposals if proposal.words]

    def _scores(self, ids, places, drawn) -> tuple[torch.Tensor, torch.Tensor]:
        """The best scores at each of `places`, and their tokens: [places, top] each."""
        rows = torch.arange(len(places), device=ids.device)
        embeddings = self._model.get_input_embeddings()(ids).repeat(len(places), 1, 1)
        shape = (len(places), embeddings.shape[-1])
        kept = (torch.rand(shape, generator=drawn) >= self._dropout).to(ids.device)
        embeddings[rows, places] *= kept / (1 - self._dropout)
        logits = self._model(inputs_embeds=embeddings).logits[rows, places].float()
        p = logits[:, : len(self._begins)].softmax(-1)
        own = ids[places]
        rest = 1 - p[rows, own]
        p[self._begins[own][:, None] != self._begins] = 0
        p[:, self._special] = 0
        p[rows, own] = 0
        # Not above 1, for p(w) <= 1 - p(own); where the model is certain, 0 over almost 0.
        return (p / rest.clamp(min=1e-9)[:, None]).topk(self._top)

    def _proposals(self, text: str, start: int, end: int, scores, tokens) -> Proposals:
        own = text[start:end]
        words = {}
        for score, token in zip(scores, tokens, strict=True):
            word = self._tokenizer.decode([token]).removeprefix("##").strip()
            word = word[:1].upper() + word[1:] if own[:1].isupper() else word
            if score > 0 and word and word != own:
                words.setdefault(word, score)
        return Proposals(start, end, list(words), np.array(list(words.values())))

    def _longest(self) -> int:
        """Tokens that the model can read; RoBERTa's positions start behind its padding."""
        config = self._model.config
        return min(self._tokenizer.model_max_length, config.max_position_embeddings)


def _load(model: str, revision: str | None, device):
    """Tokenizer and model of a folder or of the hub, the model in fp32 and without dropout."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, revision=revision)
        network = AutoModelForMaskedLM.from_pretrained(
            model, revision=revision, dtype=torch.float32
        )
    except (OSError, ValueError) as error:
        problem = (
            "cannot be read as a masked language model"
            if Path(model).is_dir()
            else "cannot be had: no such name on the hub, or no connection and not in its cache"
        )
        reason = str(error).strip().partition("\n")[0]
        raise UserError(
            f"the masked language model '{model}' {problem} ({reason}); give "
            "the folder of one as `model` in config/views.yaml, or use the view word_neighbours"
        ) from error
    if not tokenizer.is_fast:
        raise UserError(
            f"'{model}' has no fast tokenizer, which says where tokens stand in "
            "the text; choose another model"
        )
    return tokenizer, network.to(device).eval()
