"""Where an unfinished training stands: weights, both moments of AdamW and the step."""

from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from scripts.atomic import replacing

MOMENTS = ("exp_avg", "exp_avg_sq")


def save(path: Path, model: torch.nn.Module, adam: torch.optim.AdamW, step: int) -> None:
    """Keep the state after `step` steps, whole or not at all."""
    tensors = {}
    for name, parameter in model.named_parameters():
        tensors[f"weight.{name}"] = parameter.detach()
        for moment in MOMENTS:
            # AdamW holds no moments before its first step.
            tensors[f"{moment}.{name}"] = adam.state[parameter][moment]
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"step": str(step)})


def load(path: Path, model: torch.nn.Module, adam: torch.optim.AdamW) -> int:
    """Put a saved state into `model` and `adam`; the number of steps that it has seen."""
    with safe_open(path, framework="pt") as file, torch.no_grad():
        step = int(file.metadata()["step"])
        for name, parameter in model.named_parameters():
            parameter.copy_(file.get_tensor(f"weight.{name}"))
            adam.state[parameter] = {"step": torch.tensor(float(step))} | {
                moment: file.get_tensor(f"{moment}.{name}").clone() for moment in MOMENTS
            }
    return step
