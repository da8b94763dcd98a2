"""From hidden states to fp32 logits: what each architecture applies after its last layer."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Head:
    """logits = cap * tanh(scale * (hidden @ weight.T + bias) / cap), in fp32.

    `weight` is [vocabulary, width] or None where the "hidden" rows are the model's own logits
    already (an architecture whose head we do not know). Rows of a padded vocabulary stay: the
    model's softmax runs over them too.
    """

    weight: torch.Tensor | None
    bias: torch.Tensor | None = None
    scale: float = 1.0
    cap: float | None = None

    def project(self, hidden: torch.Tensor, out: torch.Tensor) -> None:
        """Write the raw logits of `hidden` [n, width] to `out` [n, vocabulary], fp32."""
        if self.weight is None:
            out.copy_(hidden)
        elif self.weight.dtype == torch.float32:
            torch.mm(hidden.float(), self.weight.T, out=out)
        else:  # 16-bit operands, fp32 accumulation and result: CUDA only
            torch.mm(hidden, self.weight.T, out_dtype=torch.float32, out=out)

    def finish_(self, logits: torch.Tensor) -> torch.Tensor:
        """Apply bias, scale and soft-cap to raw logits in place: cheap while they are in cache."""
        if self.bias is not None:
            logits.add_(self.bias)
        if self.scale != 1.0:
            logits.mul_(self.scale)
        if self.cap is not None:
            logits.div_(self.cap).tanh_().mul_(self.cap)
        return logits
