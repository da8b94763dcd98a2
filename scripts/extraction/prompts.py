"""What is sent to a server that reads texts in our place, and whether it read the same tokens."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from scripts.errors import UserError
from scripts.extraction.encoding import Encoded
from scripts.extraction.planning import Plan


class Prompt(NamedTuple):
    """Token ids of a prompt; the log-probs of all but its first `skip` tokens are wanted."""

    text: int  # row of the text
    ids: np.ndarray
    skip: int
    first: int  # flat position of the first wanted token in the plan's `encoded`


def prompts(plan: Plan) -> list[Prompt]:
    """A prompt for each item of a plan, the longest first."""
    work, bounds = plan.work, plan.encoded.bounds
    found = []
    for part in plan.parts:
        head = plan.prefixes[part.prefix]
        for item in part.items:
            start, first, stop = work.start[item], work.first[item], work.stop[item]
            row = int(np.searchsorted(bounds, start, side="right")) - 1
            ids = np.concatenate([head, work.ids[start:stop]])
            found.append(Prompt(row, ids, len(head) + int(first - start), int(first)))
    return sorted(found, key=lambda prompt: (-len(prompt.ids), prompt.first))


def whole_words(
    tokenizer: Tokenizer, texts: Sequence[str], encoded: Encoded, limit: int | None
) -> Encoded:
    """Texts cut to at most `limit` tokens where the text up to there has just these tokens.

    A text that is sent as text is tokenised again: cut inside a word, it would get other tokens.
    """
    lengths = np.diff(encoded.bounds)
    if limit is None or not (lengths > limit).any():
        return encoded
    kept = lengths.copy()
    for row in np.flatnonzero(lengths > limit):
        low = encoded.bounds[row]
        ids = encoded.ids[low : encoded.bounds[row + 1]].tolist()
        for count in range(limit, 0, -1):
            text = texts[row][: encoded.end[low + count - 1]]
            if tokenizer.encode(text).ids == ids[:count]:
                break
        kept[row] = count
    position = np.arange(len(encoded.ids)) - np.repeat(encoded.bounds[:-1], lengths)
    keep = position < np.repeat(kept, lengths)
    bounds = np.concatenate([[0], np.cumsum(kept)])
    return Encoded(encoded.ids[keep], encoded.start[keep], encoded.end[keep], bounds)


class Surfaces:
    """Compares the tokens that a server names with those that were meant."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        added = tokenizer.get_added_tokens_decoder()
        self._special = {i for i, token in added.items() if token.special}

    def refuse_others(self, named: Sequence[str] | None, ids: Sequence[int]) -> None:
        """UserError where a token that the server names is not the one that was meant.

        Spaces around tokens do not count, since servers decode them one by one or in a stream; nor
        do parts of characters and special tokens, which have several spellings.
        """
        for place, (token, own) in enumerate(zip(named or [], ids, strict=False)):
            if token.startswith("token_id:"):
                same = token == f"token_id:{own}"
                meant = f"token_id:{own}"
            else:
                meant = self._tokenizer.decode([own], skip_special_tokens=False)
                broken = "\ufffd" in meant or "\ufffd" in token or token.startswith("bytes:")
                same = broken or own in self._special or meant.strip() == token.strip()
            if not same:
                raise UserError(
                    f"token {place} is {token!r} at the server and {meant!r} in `tokenizer` of the "
                    "model's entry: not the same tokenizer"
                )
