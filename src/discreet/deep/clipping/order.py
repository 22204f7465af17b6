"""The forward pass of a net, with pictures in the order of memory in which convolutions and pooling are quickest.

A batch of pictures has examples, channels, rows and columns.  With channels last in memory its shape, its numbers and
what they mean stay as they are; sums are added in another order, so last digits may differ.  On processors pooling is
several times quicker so (`make bench deep`).  After a RuntimeError, such as `view` raises after a convolution, the net
is called again, and from then on, with pictures as they were given; an error that has another cause comes again.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

_OF_PICTURES = (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d)


class Forward:
    """Calls a module on batches."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._is_reordering = any(isinstance(layer, _OF_PICTURES) for layer in module.modules())

    def __call__(self, inputs: Any, begin: Callable[[], None]) -> Any:
        """The outputs of the module; `begin` is called before each pass."""
        if self._is_reordering:
            begin()
            draws = torch.get_rng_state()
            try:
                return outputs_of(self._module, _with_channels_last(inputs))
            except RuntimeError:
                self._is_reordering = False
                torch.set_rng_state(draws)
        begin()
        return outputs_of(self._module, inputs)


def outputs_of(module: nn.Module, inputs: Any) -> Any:
    """The output of a module on a batch: a tensor, or a tuple, list or dict of arguments."""
    if isinstance(inputs, Mapping):
        return module(**inputs)
    return module(*inputs) if isinstance(inputs, (tuple, list)) else module(inputs)


def _with_channels_last(inputs: Any) -> Any:
    if isinstance(inputs, Mapping):
        return {name: _with_channels_last(part) for name, part in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return tuple(_with_channels_last(part) for part in inputs)
    is_pictures = isinstance(inputs, Tensor) and inputs.dim() == 4 and inputs.is_floating_point()
    return inputs.to(memory_format=torch.channels_last) if is_pictures else inputs
