"""A few short prompts that tell whether a server's log-probs mean what they should.

The largest log-prob at a token is of the distribution that the tokens before it predict, so it does
not depend on that token. Where it does, the server gives each token the distribution behind it:
llama-cpp-python does for models without a first special token, and all looks well but is wrong.
"""

from collections.abc import Callable, Sequence

from tokenizers import Tokenizer

from scripts.errors import UserError
from scripts.models.endpoint import Answer

TOKENS = 32  # of a prompt
OTHERS = 3
TOLERANCE = 0.1  # nats; half precision in batches of other sizes moves less

Sent = Sequence[int] | str


def try_out(
    read: Callable[[Sent, list[int]], Answer], tried: Sequence[tuple[Sent, list[int]]], where: str
) -> None:
    """Read prompts that differ in their last token; ``read(sent, ids)`` asks, by name, and checks.

    UserError where the largest log-prob at that token depends on it. A server that does not give
    the largest can be asked for one prompt only.
    """
    largest = []
    for sent, ids in tried:
        answer = read(sent, ids)
        if not answer.tops:
            return
        largest.append(max(answer.tops[len(ids) - 1].values()))
    if largest and max(largest) - min(largest) > TOLERANCE:
        raise UserError(
            f"{where}: the largest log-prob at a token depends on that token, so the server gives "
            "each token what belongs to the next one (as llama-cpp-python does): nothing can be "
            "measured on it"
        )


def trials(tokenizer: Tokenizer, ids: list[int], as_text: bool) -> list[tuple[Sent, list[int]]]:
    """What is sent and the ids it stands for: a prompt's start, and `OTHERS` that end otherwise.

    As text, only such that are tokenised to these ids. None ends in a piece of a character: all
    these have one name, under which a server gives one of their log-probs.
    """
    ids = ids[:TOKENS]
    while as_text and len(ids) > 2 and _text(tokenizer, ids) is None:
        ids = ids[:-1]
    ends = [t for t in dict.fromkeys(ids[:0:-1]) if "\ufffd" not in tokenizer.decode([t])]
    found = []
    for end in ends or ids[-1:]:
        meant = [*ids[:-1], end]
        sent = _text(tokenizer, meant) if as_text else meant
        if sent is not None:
            found.append((sent, meant))
    return found[: 1 + OTHERS]


def _text(tokenizer: Tokenizer, ids: list[int]) -> str | None:
    text = tokenizer.decode(ids)
    return text if tokenizer.encode(text).ids == ids else None
