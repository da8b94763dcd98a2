"""Run the planned batches through the model and the head, part by part."""

from collections.abc import Callable

import numpy as np
import torch

from scripts.errors import UserError
from scripts.extraction.batching import Part
from scripts.extraction.parts import Parts
from scripts.extraction.planning import Plan
from scripts.extraction.prefix import Prefixed
from scripts.extraction.statistics import Scorer
from scripts.extraction.work import Work
from scripts.models.transformers import Backbone


class NonFiniteError(ArithmeticError):
    """The model gave a NaN or an infinity: its dtype cannot hold its activations."""


class Engine:
    """A model, its scorer, and how many tokens they take at once on this machine."""

    def __init__(self, backbone: Backbone, scorer: Scorer, tokens: int, log: Callable[[str], None]):
        self.backbone = backbone
        self.scorer = scorer
        self.tokens = tokens  # of a batch with its padding; halved where memory runs out
        self._log = log

    def run(
        self, plan: Plan, parts: Parts, done: Callable[[int, int, bool], None], first: int = 0
    ) -> np.ndarray:
        """Statistics [5 or 7, tokens] by flat position; those that are not scored hold NaN.

        Part k of the plan is kept as number `first + k` of `parts`. `done(items, tokens, resumed)`
        is told what has been read, now or by an earlier run.
        """
        self._head = self.backbone.head()
        self._plan, self._reader, self._prefix = plan, self.backbone, None
        work = plan.work
        result = np.full((self.scorer.columns, len(work.ids)), np.nan, np.float32)
        for number, part in enumerate(plan.parts, first):
            if parts.has(number):
                done(len(part.items), int((work.stop - work.first)[part.items].sum()), True)
            else:
                parts.save(number, self._part(work, part, done))
            result[:, _scored(work, part.items)] = parts.load(number)
        return result

    @torch.inference_mode()
    def _part(self, work: Work, part: Part, done) -> np.ndarray:
        """Statistics [5 or 7, n] of the scored tokens of `part`, in its order."""
        self._read_behind(part.prefix)
        targets = torch.from_numpy(work.ids[_scored(work, part.items)]).to(self.scorer.device)
        columns, waiting, scored = [], [], 0
        for batch in part.batches:
            waiting.extend(self._hidden(work, batch))
            ready = sum(map(len, waiting))
            last = batch is part.batches[-1]
            # Whole chunks only, until the end: a small product is a slow one.
            ready -= 0 if last else ready % self.scorer.rows
            if ready:
                rows = torch.cat(waiting).to(self.scorer.device)
                columns.append(self._score(rows[:ready], targets[scored : scored + ready]))
                waiting, scored = [rows[ready:]], scored + ready
            done(len(batch), len(_scored(work, batch)), False)
        statistics = torch.cat(columns, dim=1).cpu().numpy()
        if not np.isfinite(statistics).all():
            raise NonFiniteError
        return statistics

    def _read_behind(self, prefix: int) -> None:
        """Make the reader for a prefix; the last one is kept, for parts come prefix by prefix."""
        if prefix == self._prefix:
            return
        ids = self._plan.prefixes[prefix]
        self._reader = Prefixed(self.backbone, ids) if len(ids) else self.backbone
        self._prefix = prefix

    def _hidden(self, work: Work, batch: np.ndarray) -> list[torch.Tensor]:
        """Hidden rows that predict the scored tokens of `batch`, in its order, in pieces."""
        rows, todo = [], [batch]
        while todo:
            items = todo.pop(0)
            longest = int((work.stop - work.start - 1)[items].max())
            if len(items) > 1 and len(items) * longest > self.tokens:
                half = len(items) // 2
                todo[:0] = [items[:half], items[half:]]
                continue
            try:
                rows.append(self._forward(work, items, longest))
            except RuntimeError as error:
                _raise_unless_memory(error)
                if len(items) == 1:
                    raise UserError(
                        f"one text of {longest} tokens does not fit into the memory of "
                        f"{self.backbone.device}; cut the texts (overflow), choose a smaller "
                        "dtype, or a larger device"
                    ) from error
                self.tokens = len(items) * longest // 2
                self._log(f"out of memory: batches of {self.tokens} tokens from here on")
                todo.insert(0, items)
                _free(self.backbone.device)
        return rows

    def _forward(self, work: Work, items: np.ndarray, longest: int) -> torch.Tensor:
        ids = np.zeros((len(items), longest), np.int64)
        wanted = np.zeros(ids.shape, bool)
        spans = zip(work.start[items], work.first[items], work.stop[items], strict=True)
        for row, (start, first, stop) in enumerate(spans):
            ids[row, : stop - start - 1] = work.ids[start : stop - 1]
            wanted[row, first - start - 1 : stop - start - 1] = True
        device = self.backbone.device
        states = self._reader.hidden(torch.from_numpy(ids).to(device))
        return states[torch.from_numpy(wanted).to(states.device)]

    def _score(self, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        while True:
            try:
                return self.scorer.score(self._head, rows, targets)
            except RuntimeError as error:
                _raise_unless_memory(error)
                if not self.scorer.shrink():
                    raise
                self._log(f"out of memory: {self.scorer.rows} rows of logits from here on")


def _raise_unless_memory(error: RuntimeError) -> None:
    if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
        raise error


def _free(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.empty_cache()


def _scored(work: Work, items: np.ndarray) -> np.ndarray:
    """Flat positions of the scored tokens of `items`, in their order."""
    lengths = (work.stop - work.first)[items]
    begins = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(work.first[items] - begins, lengths)
