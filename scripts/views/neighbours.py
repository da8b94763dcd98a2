"""Neighbours: texts in which a few tokens are replaced by what a masked language model proposes.

For every token the model reads the text with dropout on that token's embedding, so that it neither
knows the token nor loses it from sight, and its `top` likeliest other tokens w get the score
p(w) / (1 - p(own token)). A neighbour has max(1, floor(share * tokens)) tokens replaced at once: of
TRIALS draws of places and proposals the `n` different ones with the highest sums are taken. With
one replacement that is Mattern et al. 2023 (arXiv 2305.18462), whose dropout of 0.7 is the default;
with more it is how MIMIR draws (Duan et al. 2024, arXiv 2402.07841), where each place takes its
best proposal.

Replacements go into the text as it is written, case included, and continue a word where the token
did. (Released codes score a decoded, often lower-cased text; and they feed embeddings that already
hold positions to a model that adds them again.) Tokens beyond the model's context stay as they are.
"""

import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from scripts.extraction.devices import acquired
from scripts.progress import bar
from scripts.seeds import derive, generator
from scripts.views.masked import Proposals, Proposer
from scripts.views.tables import part, several

TRIALS = 1_000


def rewrite(
    texts: pa.Table,
    aside: pa.Table,
    *,
    seed: int,
    model: str,
    n: int,
    share: float,
    revision: str | None = None,
    dropout: float = 0.7,
    top: int = 10,
) -> pa.Table:
    """Up to `n` different neighbours of each text; `model` is a folder or a name on the hub."""
    names, strings = texts["text_id"].to_pylist(), texts["text"].to_pylist()
    with acquired(os.environ.get("PRETRACE_DEVICE", "auto")) as device:
        proposer = Proposer(model, revision, dropout, top, device)
        made = []
        for name, text in bar(
            zip(names, strings, strict=True), what="neighbours", unit="text", total=len(names)
        ):
            proposals = proposer.propose(text, derive(seed, "dropout", name))
            made.append(neighbours(text, proposals, n, share, generator(seed, "places", name)))
    return several(texts, made)


def neighbours(
    text: str, proposals: list[Proposals], n: int, share: float, rng: np.random.Generator
) -> list[str]:
    """Up to `n` different texts with the highest sums of scores among TRIALS draws."""
    found: dict[str, float] = {}
    for chosen in _draws(proposals, share, rng):
        pieces, end, total = [], 0, 0.0
        for proposal, word in chosen:
            pieces += [text[end : proposal.start], proposal.words[word]]
            end = proposal.end
            total += proposal.scores[word]
        found["".join([*pieces, text[end:]])] = total
    # Equal sums in the order of the texts, so that nothing depends on the order of draws.
    return sorted(found, key=lambda string: (-found[string], string))[:n]


def _draws(
    proposals: list[Proposals], share: float, rng: np.random.Generator
) -> Iterator[list[tuple[Proposals, int]]]:
    """TRIALS choices of places in the text, ascending, with the number of a proposal for each."""
    for _ in range(TRIALS if proposals else 0):
        places = rng.choice(len(proposals), size=part(share, len(proposals)), replace=False)
        chosen = [proposals[place] for place in np.sort(places)]
        yield [(proposal, int(rng.integers(len(proposal.words)))) for proposal in chosen]
