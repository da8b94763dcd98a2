"""Five numbers per scored token, from fp32 logits, at little more than the price of the GEMM."""

import importlib.util
from collections.abc import Iterator

import torch

from scripts.models.heads import Head

FLOOR = -120.0  # nats below the maximum that stand for a logit of -inf: exp(-120) is 0 in fp32
BUFFER_BYTES = 256 * 2**20  # of logits: 1,024 rows at a vocabulary of 64k
SLICE_BYTES = 2**19  # of logits per thread whose statistics are taken at once: half a core's cache
ROWS = 1024  # below 512 the GEMM streams the head's weight from memory too often


def statistics_(
    logits: torch.Tensor, targets: torch.Tensor, scratch: torch.Tensor, head: Head
) -> torch.Tensor:
    """The statistics [5, n] of raw `logits` [n, vocabulary], which are destroyed.

    Rows: log p(target), max log p, sum p log p, the p-weighted standard deviation of log p, and
    the number of logits strictly above the target's. With m the row's maximum,
    d = max(z - m, FLOOR), S0 = sum e^d, S1 = sum d e^d, S2 = sum d^2 e^d:

        logprob = z_t - m - ln S0      top = -ln S0      mean = S1/S0 - ln S0
        variance = max(0, S2/S0 - (S1/S0)^2)

    Shifting by the maximum has no cancellation on peaked rows, where d = 0 carries the weight.
    The big work is in place and on `len(scratch)` rows at a time, which stay in the cache;
    temporaries of this size cost more than the arithmetic.
    """
    sums = logits.new_empty(6, len(targets), 1)
    few = len(scratch)
    columns = (column.split(few) for column in sums.unbind())
    for z, wanted, *out in zip(
        logits.split(few), targets[:, None].split(few), *columns, strict=True
    ):
        _sums(head.finish_(z), wanted, scratch if len(z) == few else scratch[: len(z)], out)
    target, top, rank, s0, s1, s2 = sums[..., 0]
    if not s2.isfinite().all():  # 0 * -inf: only there does the clamp change anything
        for row in (~s2.isfinite()).nonzero().flatten().tolist():
            _moments(logits[row : row + 1].clamp_(min=FLOOR), scratch[:1], sums[3:, row : row + 1])
    mean, log_s0 = s1 / s0, s0.log()
    variance = (s2 / s0 - mean * mean).clamp_(min=0)
    gap = (target - top).nan_to_num_(nan=torch.nan, neginf=FLOOR)
    return torch.stack([gap - log_s0, -log_s0, mean - log_s0, variance.sqrt_(), rank])


def fused(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The same statistics in plain operations, for a compiler to fuse into two passes."""
    top = logits.amax(1, keepdim=True)
    target = logits.gather(1, targets[:, None])
    d = (logits - top).clamp(min=FLOOR)
    e = d.exp()
    s0, s1, s2 = e.sum(1), (e * d).sum(1), (e * d * d).sum(1)
    mean, log_s0 = s1 / s0, s0.log()
    std = (s2 / s0 - mean * mean).clamp(min=0).sqrt()
    gap = (target - top)[:, 0].nan_to_num(nan=torch.nan, neginf=FLOOR)
    rank = (logits > target).sum(1).float()
    return torch.stack([gap - log_s0, -log_s0, mean - log_s0, std, rank])


def _sums(z: torch.Tensor, targets: torch.Tensor, scratch: torch.Tensor, out) -> None:
    """Write target logit, maximum, rank, S0, S1, S2 to the six `out` [n, 1]; leaves z - maximum."""
    target, top, rank, *moments = out
    torch.amax(z, 1, keepdim=True, out=top)
    torch.gather(z, 1, targets, out=target)
    torch.gt(z, target, out=scratch)
    torch.sum(scratch, 1, keepdim=True, out=rank)
    _moments(z.sub_(top), scratch, moments)


def _moments(d: torch.Tensor, scratch: torch.Tensor, out) -> None:
    torch.exp(d, out=scratch)
    torch.sum(scratch, 1, keepdim=True, out=out[0])
    torch.sum(scratch.mul_(d), 1, keepdim=True, out=out[1])
    torch.sum(scratch.mul_(d), 1, keepdim=True, out=out[2])


def rows_at_once(vocabulary: int, device: torch.device) -> int:
    """Rows of logits for one GEMM: as many as are worth it, in bounded memory."""
    rows, size = (ROWS, BUFFER_BYTES) if device.type == "cpu" else (8 * ROWS, 4 * BUFFER_BYTES)
    return max(1, min(rows, size // (4 * vocabulary)))


class Scorer:
    """The head in two levels: one GEMM into a buffer of many rows, statistics on a few at a time.

    Hidden rows of several batches are pooled until the GEMM is worth its while.
    """

    def __init__(self, vocabulary: int, device: torch.device, rows: int):
        self.vocabulary = vocabulary
        self.device = device
        self.rows = rows
        # On a GPU the compiler (Triton) comes with PyTorch and saves most of the memory traffic;
        # on a CPU it gains a few percent and costs five seconds and a C++ compiler.
        on_gpu = device.type == "cuda" and importlib.util.find_spec("triton") is not None
        self._compiled = torch.compile(fused, dynamic=True) if on_gpu else None
        self._allocate()

    def _allocate(self) -> None:
        few = torch.get_num_threads() * SLICE_BYTES // (4 * self.vocabulary)
        few = max(1, min(self.rows, few))
        if self.device.type != "cpu":
            few = self.rows // 8 or 1  # no cache to keep to, and launches cost
        self._logits = torch.empty(self.rows, self.vocabulary, device=self.device)
        self._scratch = torch.empty(few, self.vocabulary, device=self.device)

    def shrink(self) -> bool:
        """Halve the buffer; False where one row is left."""
        if self.rows == 1:
            return False
        self._logits = self._scratch = None
        self.rows //= 2
        self._allocate()
        return True

    def score(self, head: Head, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Statistics [5, n] of `hidden` [n, width] and `targets` [n], chunk by chunk."""
        out = torch.empty(5, len(targets), device=self.device)
        for start, stop in _chunks(len(targets), self.rows):
            logits = self._logits[: stop - start]
            head.project(hidden[start:stop], logits)
            out[:, start:stop] = self._statistics(logits, targets[start:stop], head)
        return out

    def _statistics(self, logits, targets, head: Head) -> torch.Tensor:
        if self._compiled is not None:
            try:
                return self._compiled(head.finish_(logits), targets)
            except torch._dynamo.exc.TorchDynamoException:
                self._compiled = None  # no compiler after all: the eager way is as exact
                head = Head(None)  # its bias, scale and cap are in the logits already
        return statistics_(logits, targets, self._scratch, head)


def _chunks(n: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + size, n)) for start in range(0, n, size))
