"""From hidden states to fp32 logits: what each architecture applies after its last layer."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Head:
    """logits = cap * tanh(scale * (hidden @ weight.T + bias) / cap), in fp32.

    `weight` is [vocabulary, width] or None where the "hidden" rows are the model's own logits
    already (an architecture whose head we do not know). Rows of a padded vocabulary stay: the
    model's softmax runs over them too. `columns` are the entries of the vocabulary that are wanted,
    a slice or their numbers.
    """

    weight: torch.Tensor | None
    bias: torch.Tensor | None = None
    scale: float = 1.0
    cap: float | None = None

    def write(self, hidden: torch.Tensor, columns: slice | torch.Tensor, out: torch.Tensor) -> None:
        """Write the logits of `hidden` [n, width] in `columns` to `out` [n, columns], fp32."""
        if self.weight is None:
            out.copy_(hidden[:, columns])
        elif self.weight.dtype == torch.float32:
            torch.mm(hidden.float(), self.weight[columns].T, out=out)
        else:  # 16-bit operands, fp32 accumulation and result: CUDA only
            torch.mm(hidden, self.weight[columns].T, out_dtype=torch.float32, out=out)
        if self.bias is not None:
            out.add_(self.bias[columns])
        if self.scale != 1.0:
            out.mul_(self.scale)
        if self.cap is not None:
            out.div_(self.cap).tanh_().mul_(self.cap)
