"""Five numbers per scored token, from fp32 logits, at little more than the price of the GEMM."""

import importlib.util
import shutil
from collections.abc import Iterator

import torch

from scripts.models.heads import Head

FLOOR = -120.0  # nats below the maximum that stand for a logit of -inf: exp(-120) is 0 in fp32
LOWEST = -1e30  # stands for the maximum of logits that are all -inf
BUFFER_BYTES = 256 * 2**20  # of logits in whole rows
ROWS = 1024  # below 512 the GEMM streams the head's weight from memory too often
# Columns of the vocabulary at a time on a CPU. 1,024 rows of them stay in a core's cache from the
# GEMM to the last sum; whole rows would go to memory and back, which costs as much as a fifth of
# the GEMM.
TILE = 512
# Logits from which on a compiler is worth its ten seconds: it saves about 1.5 ns each.
COMPILED_FROM = 2 * 10**10


def partials(z: torch.Tensor, target: torch.Tensor, moments: bool) -> torch.Tensor:
    """Sums over a tile of logits `z` [n, columns], which may be destroyed; [5 or 7, n, 1].

    With m the row's maximum in this tile and d = max(z - m, FLOOR): m, the number of logits above
    `target` [n, 1], S0 = sum e^d, S1 = sum d e^d, S2 = sum d^2 e^d, and with `moments` also the
    mean of z - m and the sum of its squared deviations. In plain operations, for a compiler to
    fuse into two passes.
    """
    top = z.amax(1, keepdim=True).clamp(min=LOWEST)
    plain = z - top
    d = plain.clamp(min=FLOOR)
    e = d.exp()
    ed = e * d
    above = (z > target).sum(1, keepdim=True).float()
    columns = [top, above, *(x.sum(1, keepdim=True) for x in (e, ed, ed * d))]
    if moments:
        columns += _plain_moments(plain)
    return torch.stack(columns)


def partials_(
    z: torch.Tensor, target: torch.Tensor, moments: bool, scratch: torch.Tensor
) -> torch.Tensor:
    """The same in place, with `scratch` as large as `z`.

    Temporaries of this size cost more than the arithmetic: each would be new pages of memory.
    """
    out = z.new_empty(7 if moments else 5, len(z), 1)
    torch.gt(z, target, out=scratch)
    torch.sum(scratch, 1, keepdim=True, out=out[1])
    torch.amax(z, 1, keepdim=True, out=out[0])
    d = z.sub_(out[0].clamp_(min=LOWEST))
    if moments:
        out[5], out[6] = _plain_moments(d)
    _weighted_sums(d, scratch, out)
    if not out[4].isfinite().all():  # 0 * -inf: only there does the clamp change anything
        _weighted_sums(d.clamp_(min=FLOOR), scratch, out)
    return out


def _plain_moments(d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    d = torch.where(d == -torch.inf, FLOOR, d)
    mean = d.mean(1, keepdim=True)
    return mean, (d - mean).square().sum(1, keepdim=True)


def _weighted_sums(d: torch.Tensor, scratch: torch.Tensor, out: torch.Tensor) -> None:
    torch.sum(torch.exp(d, out=scratch), 1, keepdim=True, out=out[2])
    torch.sum(scratch.mul_(d), 1, keepdim=True, out=out[3])
    torch.sum(scratch.mul_(d), 1, keepdim=True, out=out[4])


def merged(parts: torch.Tensor, target: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """The statistics [5 or 7, n] from the `partials` of all tiles, [tiles, 5 or 7, n, 1].

    `target` [n, 1] is the target's logit, `sizes` [tiles] how many columns each tile has.

    Rows: log p(target), max log p, sum p log p, the p-weighted standard deviation of log p, and
    the number of logits strictly above the target's. Shifted to the row's maximum M by D = m - M,
    S1 becomes e^D (S1 + D S0) and S2 becomes e^D (S2 + 2 D S1 + D^2 S0), and then

        logprob = z_t - M - ln S0      top = -ln S0      mean = S1/S0 - ln S0
        variance = max(0, S2/S0 - (S1/S0)^2)

    All terms of a sum have one sign, and on peaked rows D = d = 0 carries the weight, so nothing
    cancels. With moments two more rows: mean and Bessel-corrected standard deviation of log p over
    the vocabulary, every entry weighted alike.
    """
    tops, above, s0, s1, s2, *plain = parts.unbind(1)
    top = tops.amax(0)
    shift = (tops - top).clamp_(min=FLOOR)
    weight = shift.exp()
    s2 = (weight * (s2 + shift * (2 * s1 + shift * s0))).sum(0)
    s1 = (weight * (s1 + shift * s0)).sum(0)
    s0 = (weight * s0).sum(0)
    mean, log_s0 = s1 / s0, s0.log()
    variance = (s2 / s0 - mean * mean).clamp_(min=0)
    gap = (target - top).nan_to_num_(nan=torch.nan, neginf=FLOOR)
    columns = [gap - log_s0, -log_s0, mean - log_s0, variance.sqrt_(), above.sum(0)]
    if plain:
        sizes, (means, squares) = sizes.view(-1, 1, 1).float(), plain
        means = means + torch.where(tops > LOWEST, tops - top, FLOOR)
        mean = (sizes * means).sum(0) / sizes.sum()
        squares = (squares + sizes * (means - mean).square()).sum(0)
        columns += [mean - log_s0, (squares / (sizes.sum() - 1)).sqrt_()]
    return torch.cat(columns, 1).T


def worth_compiling(device: torch.device, logits: int) -> bool:
    """Whether a pass over `logits` numbers gains from compiled sums on this machine.

    On a GPU the compiler (Triton) comes with PyTorch; on a CPU it takes a C++ compiler and time.
    """
    if device.type == "cuda":
        return importlib.util.find_spec("triton") is not None
    return device.type == "cpu" and logits >= COMPILED_FROM and shutil.which("g++") is not None


class Scorer:
    """The head in two levels: a GEMM for many rows and a tile of the vocabulary, and its sums.

    Hidden rows of several batches are pooled until the GEMM is worth its while. On a CPU a tile is
    small enough for a core's cache, elsewhere it is the whole vocabulary.
    """

    def __init__(
        self,
        vocabulary: int,
        device: torch.device,
        rows: int,
        moments: bool = False,
        compiled: bool = False,
    ):
        self.vocabulary = vocabulary
        self.device = device
        self.rows = rows
        self.columns = 7 if moments else 5
        self.compiled = compiled
        self._moments = moments
        self._fused = torch.compile(partials, dynamic=True) if compiled else None
        tile = min(vocabulary, TILE) if device.type == "cpu" else vocabulary
        self._tiles = [
            slice(start, min(start + tile, vocabulary)) for start in range(0, vocabulary, tile)
        ]
        edges = [tile.start for tile in self._tiles] + [vocabulary]
        self._firsts = torch.tensor(edges, device=device)
        self._sizes = self._firsts.diff()
        self._allocate()

    def _allocate(self) -> None:
        width = self._tiles[0].stop
        self._logits = torch.empty(self.rows * width, device=self.device)
        self._scratch = None if self.compiled else torch.empty_like(self._logits)

    def shrink(self) -> bool:
        """Halve the buffer; False where one row is left."""
        if self.rows == 1:
            return False
        self._logits = self._scratch = None
        self.rows //= 2
        self._allocate()
        return True

    def score(self, head: Head, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Statistics [5 or 7, n] of `hidden` [n, width] and `targets` [n], chunk by chunk."""
        out = torch.empty(self.columns, len(targets), device=self.device)
        for start, stop in _chunks(len(targets), self.rows):
            out[:, start:stop] = self._chunk(head, hidden[start:stop], targets[start:stop])
        return out

    def _chunk(self, head: Head, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        n, parts = len(targets), []
        order = targets.argsort()
        bounds = torch.searchsorted(targets[order], self._firsts).tolist()
        expected = self._expected(head, hidden, targets) if len(self._tiles) > 1 else None
        target = torch.empty(n, 1, device=self.device)
        for tile, low, high in zip(self._tiles, bounds[:-1], bounds[1:], strict=True):
            z = self._logits[: n * (tile.stop - tile.start)].view(n, -1)
            head.write(hidden, tile, z)
            rows = order[low:high]
            target[rows, 0] = z[rows, targets[rows] - tile.start]
            parts.append(self._sums(z, target if expected is None else expected))
        parts = torch.stack(parts)
        if expected is not None:
            # The same product in another shape may differ in its last bit.
            parts[0, 1] -= (target > expected).float()
        return merged(parts, target, self._sizes)

    def _expected(self, head: Head, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The targets' logits [n, 1] before the tiles that hold them: ranks count against them."""
        wanted, place = targets.unique(return_inverse=True)
        logits = torch.empty(len(targets), len(wanted), device=self.device)
        head.write(hidden, wanted, logits)
        return logits.gather(1, place[:, None])

    def _sums(self, z: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if self.compiled:
            try:
                return self._fused(z, target, self._moments)
            except torch._dynamo.exc.TorchDynamoException:
                self.compiled = False  # no compiler after all: the other way is as exact
                self._scratch = torch.empty_like(self._logits)
        return partials_(z, target, self._moments, self._scratch[: z.numel()].view_as(z))


def rows_at_once(vocabulary: int, device: torch.device, whole: bool) -> int:
    """Rows for one GEMM; bounded memory where they are `whole`, not in tiles of the vocabulary."""
    if device.type == "cpu":
        return max(1, min(ROWS, BUFFER_BYTES // (4 * vocabulary))) if whole else ROWS
    return max(1, min(8 * ROWS, 4 * BUFFER_BYTES // (4 * vocabulary)))


def _chunks(n: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + size, n)) for start in range(0, n, size))
