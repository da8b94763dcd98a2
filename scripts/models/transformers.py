"""Causal language models in a local Hugging Face folder: safetensors weights, no remote code.

A folder of scripts/models/gguf.py names a GGUF file in their place; its weights are dequantised.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers
from safetensors import SafetensorError, safe_open

from scripts.errors import UserError
from scripts.models.heads import Head

SAFER = {"float16": "bfloat16", "bfloat16": "float32", "int8": "bfloat16", "nf4": "bfloat16"}


@dataclass(frozen=True)
class Architecture:
    """How a class of transformers gets from hidden states to logits, and what it can read."""

    scale: Callable = lambda config: 1.0
    cap: Callable = lambda config: None
    learned_positions: bool = False  # a text beyond the context cannot be read at all


# Each of these is tested against its own float64 logits.
ARCHITECTURES = {
    "CohereForCausalLM": Architecture(scale=lambda config: config.logit_scale),
    "GPT2LMHeadModel": Architecture(learned_positions=True),
    "GPTNeoForCausalLM": Architecture(learned_positions=True),
    "GPTNeoXForCausalLM": Architecture(),
    "Gemma2ForCausalLM": Architecture(cap=lambda config: config.final_logit_softcapping),
    "GraniteForCausalLM": Architecture(scale=lambda config: 1 / config.logits_scaling),
    "LlamaForCausalLM": Architecture(),
    "MambaForCausalLM": Architecture(),
    "MistralForCausalLM": Architecture(),
    "OPTForCausalLM": Architecture(learned_positions=True),
    "Olmo2ForCausalLM": Architecture(),
    "OlmoForCausalLM": Architecture(),
    "PhiForCausalLM": Architecture(),
    "Qwen2ForCausalLM": Architecture(),
}


HEADS = ("CausalLM", "LMHeadModel")


@dataclass(frozen=True)
class Backbone:
    """A loaded model: ids in, hidden states out, and the head that makes logits of them."""

    model: torch.nn.Module
    architecture: Architecture | None  # None: its head is unknown
    device: torch.device
    dtype: str

    @property
    def own_logits(self) -> bool:
        """Whether `hidden` gives the model's own logits, for want of a known head."""
        return self.architecture is None

    @property
    def context(self) -> int | None:
        """Positions that the model was made for; None where it has no bound."""
        return getattr(self.model.config, "max_position_embeddings", None)

    @property
    def learned_positions(self) -> bool:
        """Whether nothing beyond the context can be read at all."""
        return self.architecture is None or self.architecture.learned_positions

    @property
    def head_device(self) -> torch.device:
        """Where logits are made: the last device, where a model is spread over several."""
        return self.device if self.own_logits else self.model.get_output_embeddings().weight.device

    @property
    def vocabulary(self) -> int:
        """Logits per token, those of a padded vocabulary included."""
        output = self.model.get_output_embeddings()
        return self.model.config.vocab_size if self.own_logits else len(output.weight)

    @property
    def nbytes(self) -> int:
        """Memory of the weights, and of the head's fp32 copy if it needs one."""
        weights = sum(weight.nbytes for weight in self.model.parameters())
        head = 0 if self.own_logits else self.model.get_output_embeddings().weight.numel()
        return weights + (0 if self.dtype == "float32" else 4 * head)

    @property
    def bytes_per_token(self) -> int:
        """Rough peak memory of one token of a batch inside a layer."""
        config = self.model.config
        width = config.hidden_size
        inner = getattr(config, "intermediate_size", None) or 4 * width
        logits = config.vocab_size if self.own_logits else 0
        return 4 * (8 * width + 3 * inner + 2 * logits)

    def head(self) -> Head:
        """The head on the weights as they are now."""
        if self.architecture is None:
            return Head(None)
        output = self.model.get_output_embeddings()
        weight, bias = output.weight.detach(), getattr(output, "bias", None)
        if self.device.type != "cuda":  # only there a kernel multiplies 16 bits into fp32
            weight = weight.float()
        return Head(
            weight,
            None if bias is None else bias.detach().float(),
            self.architecture.scale(self.model.config),
            self.architecture.cap(self.model.config),
        )

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        """Last hidden states [texts, tokens, width] of right-padded `ids`, without any mask.

        A causal model's valid positions cannot see the padding behind them. With an unknown head
        these are the logits themselves.
        """
        if self.own_logits:
            return self.model(input_ids=ids, use_cache=False).logits
        return self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state


def load(
    folder: Path,
    dtype: str,
    device: torch.device,
    log: Callable[[str], None],
    trusted: bool = False,
) -> Backbone:
    """Load the model in `folder`. `dtype` auto: fp32 on a CPU, as published on a GPU.

    Where it is `trusted`, the folder's own code is run for an architecture that is not known.
    """
    config = _config(folder, trusted)
    name = (config.architectures or ["an unnamed architecture"])[0]
    cls = getattr(transformers, name, None)
    if cls is None and trusted:
        cls = transformers.AutoModelForCausalLM
    elif cls is None or config.is_encoder_decoder or not name.endswith(HEADS):
        raise UserError(
            f"{folder / 'config.json'}: {name} is not a causal language model that transformers "
            f"{transformers.__version__} knows; supported: {', '.join(ARCHITECTURES)}"
        )
    if dtype == "auto":
        published = str(config.dtype or torch.float32).removeprefix("torch.")
        dtype = "float32" if device.type == "cpu" else published
    model = _weights(cls, folder, config, dtype, device)
    architecture = ARCHITECTURES.get(name)
    if architecture is None:
        log(f"{name}: unknown head, so its own logits are taken, in small batches")
        _check_causal(model, config, name, device)
    return Backbone(model, architecture, device, dtype)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model folder, or its one GGUF file."""
    if (packed := _gguf_file(folder)) is not None:
        return [packed]
    index = folder / "model.safetensors.index.json"
    if index.exists():
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    else:
        names = ["model.safetensors"]
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise UserError(
            f"{folder} lacks {', '.join(missing)}: weights must be safetensors (pickles are never "
            "loaded); fetch the model again, or convert it with save_pretrained"
        )
    return [folder / name for name in names]


def _gguf_file(folder: Path) -> Path | None:
    record = folder / "gguf.json"
    return Path(json.loads(record.read_bytes())["file"]) if record.exists() else None


def _config(folder: Path, trusted: bool):
    if not (folder / "config.json").exists():
        raise UserError(f"{folder} has no config.json: it is not a model folder; fetch it again")
    try:
        return transformers.AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=trusted
        )
    except (ValueError, OSError, KeyError) as error:
        raise UserError(
            f"{folder / 'config.json'}: transformers {transformers.__version__} cannot read it "
            f"({str(error).splitlines()[0]})"
        ) from error


def _weights(cls, folder: Path, config, dtype: str, device: torch.device):
    packed = _gguf_file(folder)
    for path in [] if packed else weight_files(folder):
        try:
            with safe_open(path, "pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path} is damaged ({error}); fetch it again") from error
    options = {"dtype": getattr(torch, dtype, None)}
    if dtype in ("int8", "nf4"):
        if packed:
            raise UserError(f"{packed} is quantised already; choose another dtype than {dtype}")
        options = _quantized(dtype, device)
    elif options["dtype"] not in (torch.float32, torch.bfloat16, torch.float16):
        raise UserError(
            f"dtype {dtype!r} is unknown; choose auto, float32, bfloat16, float16, int8 or nf4"
        )
    if cls is transformers.AutoModelForCausalLM:
        options["trust_remote_code"] = True
    spread = device.type == "cuda" and not packed and too_large(folder, dtype, config, device)
    if spread:
        options |= {"device_map": "auto"}
    if packed:
        options["gguf_file"] = packed.name
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    else:
        options["use_safetensors"] = True
    transformers.utils.logging.disable_progress_bar()
    model, info = cls.from_pretrained(
        packed.parent if packed else folder,
        config=config,
        local_files_only=True,
        output_loading_info=True,
        **options,
    )
    lost = sorted({*info["missing_keys"], *(key[0] for key in info["mismatched_keys"])})
    if lost:
        raise UserError(
            f"{folder}: the weights lack {len(lost)} tensors of {cls.__name__}, e.g. {lost[0]}; "
            "fetch the model again"
        )
    if dtype not in ("int8", "nf4") and not spread:
        model.to(device)
    return model.eval().requires_grad_(False)


def too_large(folder: Path, dtype: str, config, device: torch.device) -> bool:
    """Whether the weights take more than 85 % of a device, so that they need several.

    One model over several devices is a pipeline in which one works at a time: for nothing else.
    """
    bits = {"int8": 8, "nf4": 4, "float32": 32}.get(dtype, 16)
    published = 32 if (config.dtype or torch.float32) == torch.float32 else 16
    size = sum(path.stat().st_size for path in weight_files(folder)) * bits / published
    if size <= 0.85 * torch.cuda.get_device_properties(device).total_memory:
        return False
    if not transformers.utils.is_accelerate_available():
        raise UserError(
            f"{folder} needs {size / 2**30:.0f} GiB, more than {device} has: to spread it over "
            "all devices, pip install accelerate; or choose dtype int8 or nf4"
        )
    return True


def _quantized(dtype: str, device: torch.device) -> dict:
    if device.type != "cuda":
        raise UserError(f"dtype {dtype} needs a CUDA device; choose float32 or bfloat16 here")
    if not transformers.utils.is_bitsandbytes_available():
        raise UserError(f"dtype {dtype} needs bitsandbytes: pip install bitsandbytes")
    config = transformers.BitsAndBytesConfig(
        load_in_8bit=dtype == "int8",
        load_in_4bit=dtype == "nf4",
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return {"quantization_config": config, "dtype": torch.bfloat16, "device_map": {"": device}}


def _check_causal(model, config, name: str, device: torch.device) -> None:
    """Refuse a model whose tokens see what stands behind them: padding would change them."""
    ids = torch.arange(8, device=device)[None] % config.vocab_size
    changed = ids.clone()
    changed[0, 4:] = 0
    with torch.inference_mode():
        a, b = (model(input_ids=x, use_cache=False).logits[:, :4].float() for x in (ids, changed))
    if not torch.allclose(a, b, rtol=1e-2, atol=1e-2):
        raise UserError(
            f"{name} is not causal: its tokens see later ones; "
            f"supported: {', '.join(ARCHITECTURES)}"
        )
