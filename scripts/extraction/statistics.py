"""Five numbers per scored token, from fp32 logits, at little more than the price of the GEMM."""

import importlib.util
from collections.abc import Iterator

import torch

from scripts.models.heads import Head

FLOOR = -120.0  # nats below the maximum that stand for a logit of -inf: exp(-120) is 0 in fp32
LOWEST = -1e30  # stands for the maximum of logits that are all -inf
BUFFER_BYTES = 256 * 2**20  # of logits in whole rows
ROWS = 1536  # below 512 the GEMM streams the head's weight from memory too often
# Columns of the vocabulary at a time on a CPU: so many rows of them stay near a core from the GEMM
# to the last sum. Whole rows would go to memory and back, which costs a fifth of the GEMM.
TILE = 1024
SLICE = 128  # rows of a tile per thread whose sums are made together, in the core's own cache
OWN = 64  # rows whose targets' logits are computed together


def partials(z: torch.Tensor, target: torch.Tensor, moments: bool) -> torch.Tensor:
    """Sums over a tile of logits `z` [n, columns], which may be destroyed; [n, 5 or 7].

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
    above = (z > target).float()  # a sum of booleans would be one of 64-bit integers
    columns = [top, *(x.sum(1, keepdim=True) for x in (above, e, ed, ed * d))]
    if moments:
        columns += _plain_moments(plain)
    return torch.cat(columns, 1)


def partials_(
    z: torch.Tensor, target: torch.Tensor, scratch: torch.Tensor, out: torch.Tensor
) -> None:
    """Write the same to `out` [n, 5 or 7], but without the FLOOR, and leave z - m in `z`.

    All in place, with `scratch` as large as `z`: temporaries of this size cost more than the
    arithmetic, for each would be new pages of memory. Only a logit of -inf needs the FLOOR: S1 and
    S2 are not finite then, and `weighted_sums_` puts them right.
    """
    top, above = out[:, :1], out[:, 1:2]
    torch.gt(z, target, out=scratch)
    torch.sum(scratch, 1, keepdim=True, out=above)
    torch.amax(z, 1, keepdim=True, out=top)
    d = z.sub_(top.clamp_(min=LOWEST))
    if out.shape[1] > 5:
        out[:, 5:] = torch.cat(_plain_moments(d), 1)
    weighted_sums_(d, scratch, out)


def _plain_moments(d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    d = torch.where(d == -torch.inf, FLOOR, d)
    mean = d.mean(1, keepdim=True)
    return mean, (d - mean).square().sum(1, keepdim=True)


def weighted_sums_(d: torch.Tensor, scratch: torch.Tensor, out: torch.Tensor) -> None:
    """S0, S1 and S2 of `d` = z - m into columns 2 to 4 of `out`."""
    torch.sum(torch.exp(d, out=scratch), 1, keepdim=True, out=out[:, 2:3])
    torch.sum(scratch.mul_(d), 1, keepdim=True, out=out[:, 3:4])
    torch.sum(scratch.mul_(d), 1, keepdim=True, out=out[:, 4:5])


def merged(parts: torch.Tensor, target: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """The statistics [5 or 7, n] from the `partials` of all tiles, [tiles, n, 5 or 7].

    `target` [n] is the target's logit, `sizes` [tiles] how many columns each tile has.

    Rows: log p(target), max log p, sum p log p, the p-weighted standard deviation of log p, and
    the number of logits strictly above the target's. Shifted to the row's maximum M by D = m - M,
    S1 becomes e^D (S1 + D S0) and S2 becomes e^D (S2 + 2 D S1 + D^2 S0), and then

        logprob = z_t - M - ln S0      top = -ln S0      mean = S1/S0 - ln S0
        variance = max(0, S2/S0 - (S1/S0)^2)

    All terms of a sum have one sign, and on peaked rows D = d = 0 carries the weight, so nothing
    cancels. With moments two more rows: mean and Bessel-corrected standard deviation of log p over
    the vocabulary, every entry weighted alike.
    """
    tops, above, s0, s1, s2, *plain = parts.unbind(-1)
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
        sizes, (means, squares) = sizes[:, None].float(), plain
        means = means + torch.where(tops > LOWEST, tops - top, FLOOR)
        mean = (sizes * means).sum(0) / sizes.sum()
        squares = (squares + sizes * (means - mean).square()).sum(0)
        columns += [mean - log_s0, (squares / (sizes.sum() - 1)).sqrt_()]
    return torch.stack(columns)


def worth_compiling(device: torch.device) -> bool:
    """Whether this device has a compiler (Triton) and is the faster for it.

    On a CPU the sums in place are as fast: the vector library's exponential is a good one.
    """
    return device.type == "cuda" and importlib.util.find_spec("triton") is not None


class Scorer:
    """The head in two levels: a GEMM for many rows and a tile of the vocabulary, and its sums.

    Hidden rows of several batches are pooled until the GEMM is worth its while. On a CPU a tile's
    sums are made in slices of rows that fit a core's cache, elsewhere all at once, and the tile is
    the whole vocabulary.
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
        self._fused = torch.compile(partials, dynamic=True) if compiled else None
        tile = min(vocabulary, TILE) if device.type == "cpu" else vocabulary
        self._tiles = [
            slice(start, min(start + tile, vocabulary)) for start in range(0, vocabulary, tile)
        ]
        self._sizes = torch.tensor([t.stop - t.start for t in self._tiles], device=device)
        self._allocate()

    def _allocate(self) -> None:
        width = self._tiles[0].stop
        self._logits = torch.empty(self.rows * width, device=self.device)
        on_cpu = self.device.type == "cpu"
        self._slice = min(self.rows, SLICE * torch.get_num_threads()) if on_cpu else self.rows
        self._scratch = torch.empty(0 if self.compiled else self._slice * width, device=self.device)

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
        parts = torch.empty(len(self._tiles), len(targets), self.columns, device=self.device)
        if len(self._tiles) == 1:
            z = self._tile(head, hidden, self._tiles[0])
            target = z.gather(1, targets[:, None])
            self._sums(z, target, parts[0])
            return merged(parts, target[:, 0], self._sizes)
        target = self._of_targets(head, hidden, targets)
        order = targets.argsort()
        tiles = targets[order] // TILE
        places = order * self._sizes[tiles] + targets[order] % TILE
        counts = tiles.bincount(minlength=len(self._tiles)).tolist()
        own = zip(places.split(counts), target[order].split(counts), strict=True)
        for tile, (place, logits), out in zip(self._tiles, own, parts, strict=True):
            z = self._tile(head, hidden, tile)
            # The same product in another shape may differ in its last bit, and a rank counts
            # what is strictly above.
            z.put_(place, logits)
            self._sums(z, target[:, None], out)
        return merged(parts, target, self._sizes)

    def _tile(self, head: Head, hidden: torch.Tensor, tile: slice) -> torch.Tensor:
        """The logits of one tile [n, columns], in the buffer."""
        z = self._logits[: len(hidden) * (tile.stop - tile.start)].view(len(hidden), -1)
        head.write(hidden, tile, z)
        return z

    def _of_targets(self, head: Head, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The targets' own logits [n], before the tiles that hold them: ranks count against them.

        Products of few rows with their own targets, of which only the diagonal is wanted.
        """
        logits = []
        for rows, wanted in zip(hidden.split(OWN), targets.split(OWN), strict=True):
            z = torch.empty(len(rows), len(rows), device=self.device)
            head.write(rows, wanted, z)
            logits.append(z.diagonal())
        return torch.cat(logits)

    def _sums(self, z: torch.Tensor, target: torch.Tensor, out: torch.Tensor) -> None:
        if self.compiled:
            try:
                out.copy_(self._fused(z, target, self.columns > 5))
                return
            except torch._dynamo.exc.TorchDynamoException:
                self.compiled = False  # no compiler after all: the other way is as exact
                self._scratch = torch.empty_like(self._logits)
        for rows, own, at, scratch in self._slices(z, target, out):
            partials_(rows, own, scratch, at)
        if not out[:, 4].isfinite().all():
            for d, _, at, scratch in self._slices(z.clamp_(min=FLOOR), target, out):
                weighted_sums_(d, scratch, at)

    def _slices(self, z: torch.Tensor, target: torch.Tensor, out: torch.Tensor) -> Iterator[tuple]:
        """The same rows of each, so few that they stay in cache, and as much scratch."""
        of_each = (x.split(self._slice) for x in (z, target, out))
        for rows, own, at in zip(*of_each, strict=True):
            yield rows, own, at, self._scratch[: rows.numel()].view_as(rows)


def rows_at_once(vocabulary: int, device: torch.device, whole: bool) -> int:
    """Rows for one GEMM; bounded memory where they are `whole`, not in tiles of the vocabulary."""
    if device.type == "cpu":
        return max(1, min(ROWS, BUFFER_BYTES // (4 * vocabulary))) if whole else ROWS
    return max(1, min(8 * ROWS, 4 * BUFFER_BYTES // (4 * vocabulary)))


def _chunks(n: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + size, n)) for start in range(0, n, size))
