"""Train one of the lab's models in a recorded order and keep its checkpoints.

The same inputs, settings and thread count give the same bytes on the same kind of processor (other
instruction sets and thread counts move the last bits), whether or not the run was killed and
resumed on the way.
"""

import hashlib
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save as serialize

from scripts.atomic import replacing
from scripts.cli import arguments, run
from scripts.errors import UserError
from scripts.lab import network, state
from scripts.lab.batches import stream
from scripts.progress import bar
from scripts.resumable import resumable
from scripts.seeds import derive

EVERY = 50  # steps from one resumable state to the next: about 20 s of the largest default model
STATE = "state.safetensors"
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")


def identity(settings: dict, files: dict[str, Path], threads: int) -> dict:
    """Everything that decides the bytes of a training, as JSON values."""
    code = hashlib.sha256()
    for module in sorted(Path(__file__).parent.glob("*.py")):
        code.update(module.read_bytes())
    return {
        "settings": settings,
        "sha256": {name: _sha256(path) for name, path in files.items()},
        "code_sha256": code.hexdigest(),
        "threads": threads,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def write_model(
    folder: Path, model: network.GPTNeoXForCausalLM, tokenizer: Path, record: dict
) -> None:
    """A model folder that transformers loads, with `record` and the weights' hash beside it."""
    with replacing(folder) as temporary:
        model.config.save_pretrained(temporary)
        # Not save_file(): it lets nobody but the owner read what it writes.
        weights = serialize(model.state_dict(), metadata={"format": "pt"})
        (temporary / "model.safetensors").write_bytes(weights)
        for name in TOKENIZER:
            shutil.copyfile(tokenizer / name, temporary / name)
        parameters = sum(parameter.numel() for parameter in model.parameters())
        digest = hashlib.sha256(weights).hexdigest()
        record = {**record, "parameters": parameters, "weights_sha256": digest}
        text = json.dumps(record, indent=2, sort_keys=True) + "\n"
        (temporary / "training.json").write_text(text)


def train(
    model: network.GPTNeoXForCausalLM,
    batches: np.ndarray,
    settings: dict,
    folder: Path,
    keep: Callable[[int], None],
) -> None:
    """Train from the state in `folder`, or from the start, up to the last checkpoint.

    `batches` are token ids [steps, batch, window]; `keep` is called with 0 and with the number of
    steps behind each further checkpoint, before a state that has seen them is saved.
    """
    name, checkpoints = settings["training"], settings["checkpoints"]
    steps, last, tokens = len(batches), max(checkpoints), batches[0].size
    adam = network.optimiser(model)
    saved = folder / STATE
    done = state.load(saved, model, adam) if saved.exists() else 0
    if done == 0 and 0 in checkpoints:
        keep(0)
    with bar(what=name, unit="tok", total=last * tokens, initial=done * tokens) as progress:
        for step in range(done, last):
            rate = settings["learning_rate"] * network.rate(step, steps)
            loss = network.advance(model, adam, batches[step], rate)
            if not math.isfinite(loss):
                raise UserError(
                    f"config/lab.yaml, trainings.{name}: the loss is {loss} at step {step}; "
                    "lower learning_rate"
                )
            seen = step + 1
            progress.set_postfix(step=f"{seen}/{last}", loss=f"{loss:.3f}", refresh=False)
            progress.update(tokens)
            if seen in checkpoints:
                keep(seen)
            if seen % EVERY == 0 or seen == last:
                state.save(saved, model, adam, seen)


def main() -> None:
    """Step: settings `seed`, `training` (its name) and its entry in config/lab.yaml.

    `--models` are the folders of the checkpoints, in the order of `checkpoints`. `initial` names
    another training whose initial weights this one has.
    """
    args = arguments(__doc__, ["corpus", "order", "tokenizer"], ["models"])
    settings = args.settings
    name, checkpoints = settings["training"], settings["checkpoints"]
    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # a debugging aid that costs time

    batches = stream(args.corpus, args.order)
    if max(checkpoints) > len(batches):
        raise UserError(
            f"config/lab.yaml, trainings.{name}: checkpoint {max(checkpoints)} lies behind the "
            f"last step of the order '{settings['order']}', {len(batches)}; lower it"
        )
    tokenizer = args.tokenizer / "tokenizer.json"
    model = network.build(
        settings["hidden"],
        settings["layers"],
        settings["heads"],
        vocab_size=len(json.loads(tokenizer.read_text())["model"]["vocab"]),
        window=batches.shape[-1],
        seed=derive(settings["seed"], "training", settings.get("initial", name)),
    )
    inputs = {"corpus": args.corpus, "order": args.order, "tokenizer": tokenizer}
    record = identity(settings, inputs, args.threads)
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    with resumable(args.models[0].with_name(name), digest) as folder:

        def keep(step: int) -> None:
            write_model(folder / f"step{step}", model, args.tokenizer, {**record, "step": step})

        train(model, batches, settings, folder, keep)
        for step, target in zip(checkpoints, args.models, strict=True):
            with replacing(target) as temporary:
                shutil.copytree(folder / f"step{step}", temporary)
        # Before the rest: a folder half removed by a kill must not look as if it could go on.
        (folder / STATE).unlink(missing_ok=True)  # there is none without a step


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    run(main)
