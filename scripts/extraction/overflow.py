"""What becomes of texts that are longer than the model's context."""

from dataclasses import dataclass

import numpy as np

from scripts.errors import UserError


@dataclass(frozen=True)
class Overflow:
    """`limit`: tokens that a text keeps. `window`, `stride`: inputs of a window and their step."""

    limit: int | None = None
    window: int | None = None
    stride: int = 0

    def truncated(self, lengths: np.ndarray) -> int:
        """How many texts of these lengths are cut."""
        return 0 if self.limit is None else int((lengths > self.limit).sum())


def parse_overflow(setting: object, context: int | None, learned_positions: bool) -> Overflow:
    """The setting `overflow`: "truncate" (default), {"truncate": tokens}, {"window": stride} or
    "none".

    A context of n positions holds n + 1 tokens, for the last one is predicted but never read (a
    Pythia training row has 2,049 ids for 2,048 positions).
    """
    most = None if context is None else context + 1
    match setting:
        case None | "truncate":
            return Overflow(limit=most)
        case "none":
            if learned_positions:
                raise UserError(
                    f"overflow: none is impossible for this model: it has {context} learned "
                    "positions; choose truncate or window"
                )
            return Overflow()
        case {"truncate": int(tokens)} if tokens > 1:
            return Overflow(limit=tokens if most is None else min(tokens, most))
        case {"window": int(stride)} if stride > 0 and (context is None or stride <= context):
            return Overflow(window=context, stride=stride)
    raise UserError(
        f"overflow: {setting!r} is none of truncate, {{truncate: tokens}}, {{window: stride}} "
        f"(stride of 1 to {context} tokens) and none; mend `overflow` in the dataset's entry"
    )
