"""A tape of one forward pass: which layers were called on what, and where their outputs lie in the graph.

A layer's call is recorded by a hook.  Its output is remembered as an edge of the graph, not as a tensor: an activation
that works in place changes the tensor, and the edge still stands for what the layer gave.  The gradient at all edges is
one backward pass, in which no gradient of a parameter is computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a layer: what it was given, and the gradient at each of its outputs that has one."""

    layer: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    gradients: tuple[Tensor | None, ...]


class Tape:
    """Hooks on the layers that own trainable parameters; `close` takes them off."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        self._calls: list[tuple[nn.Module, tuple[Any, ...], Mapping[str, Any], list[Any]]] = []
        self._is_on = False
        # Before the hooks of callers of `clipped_sum`: what these make of an output is no part of the layer.
        self._hooks = [layer.register_forward_hook(self._record, prepend=True, with_kwargs=True) for layer in layers]

    def start(self) -> None:
        """Forget what was recorded, and record from now on."""
        self._calls.clear()
        self._is_on = True

    def stop(self) -> None:
        """Record no more."""
        self._is_on = False

    def calls(self, losses: Tensor) -> list[Call]:
        """The recorded calls with the gradient of the sum of all losses at their outputs; the tape is empty then."""
        self.stop()
        recorded, edges = self._calls, [edge for *_, edges in self._calls for edge in edges if edge is not None]
        self._calls = []
        if not edges or not losses.requires_grad:
            return []
        gradients = iter(torch.autograd.grad(losses, edges, torch.ones_like(losses), allow_unused=True))
        return [
            Call(layer, args, kwargs, tuple(None if edge is None else next(gradients) for edge in edges))
            for layer, args, kwargs, edges in recorded
        ]

    def close(self) -> None:
        """Take the hooks off."""
        self._calls.clear()
        for hook in self._hooks:
            hook.remove()

    def _record(self, layer: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any) -> None:
        if not self._is_on:
            return
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        edges = [
            get_gradient_edge(part) if isinstance(part, Tensor) and part.requires_grad else None for part in outputs
        ]
        given = tuple(_detached(part) for part in args)
        self._calls.append((layer, given, {name: _detached(part) for name, part in kwargs.items()}, edges))


def _detached(part: Any) -> Any:
    return part.detach() if isinstance(part, Tensor) else part
