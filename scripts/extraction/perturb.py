"""Copies of a model with noise on its weights (MoPe), in place, from one pristine copy."""

from collections.abc import Iterator

import torch

from scripts.seeds import derive


def perturbed(model: torch.nn.Module, sigma: float, copies: int, seed: int) -> Iterator[int]:
    """Give `model` the weights of copy 1, 2, … `copies` in turn; the original ones at the end.

    Each copy adds Gaussian noise of standard deviation `sigma` to the pristine weights, in fp32
    and rounded once. (Adding and subtracting in place drifts: in bf16 more than half of the
    weights change within ten rounds.)
    """
    weights = dict(model.named_parameters())
    pristine = {name: _keep(weight.detach()) for name, weight in weights.items()}
    try:
        for number in range(1, copies + 1):
            for name, weight in weights.items():
                _add_noise(weight.data, pristine[name], sigma, derive(seed, str(number), name))
            yield number
    finally:
        for name, weight in weights.items():
            weight.data.copy_(pristine[name])


def _add_noise(weight: torch.Tensor, pristine: torch.Tensor, sigma: float, seed: int) -> None:
    generator = torch.Generator(weight.device).manual_seed(seed)
    noise = torch.empty(weight.shape, dtype=torch.float32, device=weight.device)
    noise.normal_(0.0, sigma, generator=generator)
    weight.copy_(noise.add_(pristine.to(weight.device)))


def _keep(weight: torch.Tensor) -> torch.Tensor:
    """A copy on the weight's device where it fits, else in the host's memory."""
    if weight.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(weight.device)
        if free < 4 * weight.nbytes + 2**30:
            return weight.cpu().pin_memory()
    return weight.clone()
