"""What a training moves in the caller's hands, as it was before: weights, the optimizer's memory and modes.

Only stored weights may be seen.  A training that breaks puts back what was there before it, and while a function of the
caller's is told how far it is, what was there before stands in the place of what is under way.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from discreet.deep.training.course import Course


def modes_of(module: nn.Module) -> dict[nn.Module, bool]:
    """The mode of each layer, training or not: a net may have layers of both."""
    return {layer: layer.training for layer in module.modules()}


def put_modes(modes: Mapping[nn.Module, bool]) -> None:
    """Put each layer into its mode."""
    for layer, mode in modes.items():
        layer.training = mode


class Undo:
    """A copy of all that a training of this course moves; never handed out itself, so it may be put back often."""

    def __init__(self, course: Course) -> None:
        self._course, optimizer = course, course.optimizer
        self._weights = _copies(course.parameters)
        self._memory = {key: _copied(state) for key, state in optimizer.state.items()}
        self._options = [{name: group[name] for name in group if name != "params"} for group in optimizer.param_groups]
        self._modes = modes_of(course.module)
        self._draws = torch.get_rng_state()

    def __call__(self) -> None:
        """Put everything back."""
        _put(self._course.parameters, self._weights)
        for group, options in zip(self._course.optimizer.param_groups, self._options, strict=True):
            group.update(options)
        self._put_memory()
        put_modes(self._modes)

    @contextlib.contextmanager
    def as_before(self) -> Iterator[None]:
        """While the caller looks: weights, memory and PyTorch's generator as they were before, and no gradients."""
        parameters, optimizer = self._course.parameters, self._course.optimizer
        weights, gradients = _copies(parameters), [parameter.grad for parameter in parameters]
        memory, modes = dict(optimizer.state), modes_of(self._course.module)
        draws = torch.get_rng_state()
        try:
            torch.set_rng_state(self._draws)
            _put(parameters, self._weights)
            self._put_memory()
            for parameter in parameters:
                parameter.grad = None
            yield
        finally:
            self._draws = torch.get_rng_state()
            torch.set_rng_state(draws)  # first: what follows may raise where the caller changed the net
            _put(parameters, weights)
            optimizer.state.clear()
            optimizer.state.update(memory)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient
            put_modes(modes)

    def _put_memory(self) -> None:
        """Copies: an optimizer changes its memory in place."""
        self._course.optimizer.state.clear()
        self._course.optimizer.state.update({key: _copied(state) for key, state in self._memory.items()})


def _put(parameters: Sequence[Tensor], weights: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for parameter, weight in zip(parameters, weights, strict=True):
            parameter.copy_(weight)


def _copies(parameters: Sequence[Tensor]) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in parameters]


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value.clone() if isinstance(value, Tensor) else value for name, value in state.items()}
