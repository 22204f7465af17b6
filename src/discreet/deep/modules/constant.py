"""Draws that are the same for every example, so that nets with dropout can be compared between batches."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_VALUES = {"bernoulli": 1.0, "exponential": 1.0, "geometric": 1.0}  # every other law draws ½, whole numbers 0


class ConstantDraws(TorchDispatchMode):
    """While this is on, every draw of PyTorch's generator is one constant: dropout keeps everything."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return result
        name = func.overloadpacket.__name__.rstrip("_")
        if name == "native_dropout":
            given, rate = args[0], args[1]
            return given / (1 - rate), torch.ones_like(result[1])
        if not isinstance(result, Tensor) or name in _UNTOUCHED:
            return result
        if name.startswith("randperm"):
            return result.copy_(torch.arange(len(result), device=result.device))
        return result.fill_(_VALUES.get(name.partition("_")[0], 0.5))


_UNTOUCHED = {"rrelu_with_noise", "rrelu_with_noise_functional"}  # what they return is no draw
