"""Texts read behind a prefix (ReCaLL): its keys and values are computed once and reused."""

import copy
import inspect

import numpy as np
import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

from scripts.models.transformers import Backbone


class Prefixed:
    """A backbone that reads each row behind one prefix."""

    def __init__(self, backbone: Backbone, prefix: np.ndarray):
        self._backbone = backbone
        self._prefix = torch.from_numpy(prefix).to(backbone.device)[None]
        self._base = backbone.model.base_model
        accepted = inspect.signature(self._base.forward).parameters
        # transformers 5 renames the argument; both names are in use.
        self._argument = "cache" if "cache" in accepted else "past_key_values"
        self._layers = None if backbone.own_logits else self._read_prefix()

    def _read_prefix(self) -> list[DynamicLayer] | None:
        """Keys and values of the prefix; None for a model without attention (Mamba)."""
        cache = DynamicCache(config=self._base.config)
        if not all(isinstance(layer, DynamicLayer) for layer in cache.layers):
            return None
        self._base(input_ids=self._prefix, use_cache=True, **{self._argument: cache})
        return cache.layers

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        """Hidden states of `ids` [texts, tokens] behind the prefix, for `ids` only."""
        if self._layers is None:
            whole = torch.cat([self._prefix.expand(len(ids), -1), ids], dim=1)
            return self._backbone.hidden(whole)[:, self._prefix.shape[1] :]
        layers = [_shared(layer, len(ids)) for layer in self._layers]
        cache = DynamicCache(config=self._base.config)
        cache.layers = layers
        output = self._base(input_ids=ids, use_cache=True, **{self._argument: cache})
        return output.last_hidden_state


def _shared(layer: DynamicLayer, rows: int) -> DynamicLayer:
    """`layer` for `rows` texts: one copy of the prefix, and no memory of the texts."""
    shared = copy.copy(layer)
    keys, values = (x.expand(rows, -1, -1, -1) for x in (layer.keys, layer.values))
    shared.keys, shared.values = keys, values

    def update(*args, **kwargs):
        full = type(layer).update(shared, *args, **kwargs)
        shared.keys, shared.values = keys, values
        return full

    shared.update = update
    return shared
