"""Optimizers, schedules and averages: everything that happens to gradients that are noisy already, and is free.

Any optimizer of torch may be used that steps on the gradients of exactly the module's trainable parameters.  One that
calls a closure would need losses of rows, which nobody paid for.
"""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from discreet.deep.training.adam import Adam
from discreet.errors import bad
from discreet.ledger.ledger import LONGEST_ANSWER

__all__ = ["Adam"]  # as dp.deep names it
Schedule = Callable[[float], float]
_PLAIN = (bool, int, float, type(None))  # values of an optimizer's state beside tensors


def trained_parameters(module: nn.Module) -> list[Tensor]:
    """The trainable parameters, in the order of the module; a tied one once."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def require_optimizer(optimizer: Any, module: nn.Module) -> None:
    """Refuses an optimizer that steps on other parameters than the module's trainable ones, or needs more than
    gradients: a copy of it takes a step on zeros."""
    if not isinstance(optimizer, torch.optim.Optimizer):
        fix = "Give, for example, torch.optim.SGD(net.parameters(), lr=1, momentum=0.9)."
        raise bad("optimizer", "must be an optimizer of torch", type(optimizer).__name__, fix)
    stepped = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
    trained = {id(parameter) for parameter in trained_parameters(module)}
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    fix = "Make it of the trainable parameters: [p for p in net.parameters() if p.requires_grad]."
    if len(set(stepped)) < len(stepped):
        raise bad("optimizer", "must have each parameter once", type(optimizer).__name__, fix)
    if missing := sorted(names[key] for key in trained - set(stepped)):
        raise bad("optimizer", "must have all trainable parameters of the module", f"one without {missing[0]}", fix)
    if more := set(stepped) - trained:
        name = min((names[key] for key in more if key in names), default="a parameter of something else")
        raise bad("optimizer", "must have no parameters but the module's trainable ones", f"one with {name}", fix)
    _require_plain_step(optimizer, module)


def _require_plain_step(optimizer: Any, module: nn.Module) -> None:
    """Refuses an optimizer that needs more than gradients, or whose memory with the weights is longer than an answer
    that a ledger stores may be."""
    name = type(optimizer).__name__
    fix = "Use SGD, Adam, or another optimizer that steps on dense gradients."
    try:
        twin, stepping = copy.deepcopy((module, optimizer))
        for parameter in trained_parameters(twin):
            parameter.grad = torch.zeros_like(parameter)
        stepping.step()
        states = [value for state in stepping.state.values() for value in state.values()]
    except Exception:  # what another package's optimizer raises is its own
        states = [object()]
    if not all(isinstance(value, (Tensor, *_PLAIN)) for value in states):
        rule = "must step on gradients alone, without a closure, and remember tensors and numbers alone"
        raise bad("optimizer", rule, name, fix)
    stored = [*states, *2 * trained_parameters(module)]  # the average of the weights is as long as they are
    size = sum(value.numel() * value.element_size() for value in stored if isinstance(value, Tensor))
    if size > LONGEST_ANSWER - 2**22:
        rule = f"must have less than {LONGEST_ANSWER >> 20} MiB of trained weights, averages and the optimizer's memory"
        raise bad("module", rule, f"{size >> 20} MiB", "Freeze parameters, or use an optimizer that remembers less.")


# --- the public schedule of the learning rate ------------------------------------------------------------------------


def factors_of(schedule: Any, steps: int) -> tuple[float, ...] | None:
    """The factor of the learning rate in each step; None for a constant rate.

    >>> factors_of(lambda progress: 1 - progress, 4)
    (1.0, 0.75, 0.5, 0.25)
    """
    if schedule is None:
        return None
    fix = "Give, for example, lambda progress: min(1, 2 * (1 - progress)); progress goes from 0 to almost 1."
    if not callable(schedule) or isinstance(schedule, torch.optim.lr_scheduler.LRScheduler):
        raise bad("schedule", "must be a function of progress", type(schedule).__name__, fix)
    try:
        factors = tuple(float(schedule(step / steps)) for step in range(steps))
    except Exception as error:  # what a caller's function raises is its own, and says nothing of rows
        raise bad("schedule", "must give a number for each progress", f"one that raises {error!r}"[:80], fix) from None
    if not all(math.isfinite(factor) and factor >= 0 for factor in factors):
        raise bad("schedule", "must give numbers that are not negative", "one that does not", fix)
    return factors


class Rates:
    """The learning rates of an optimizer as the caller set them, times the factor of each step."""

    def __init__(self, optimizer: Any, factors: Sequence[float] | None) -> None:
        self._groups, self._factors = optimizer.param_groups, factors
        self._rates = [group.get("lr") for group in self._groups]
        if factors is not None and None in self._rates:
            raise bad("schedule", "must be None for an optimizer without lr", type(optimizer).__name__, "Leave it out.")

    def set(self, step: int) -> None:
        """Set the rates of a step."""
        if self._factors is not None:
            for group, rate in zip(self._groups, self._rates, strict=True):
                group["lr"] = rate * self._factors[step]

    def restore(self) -> None:
        """Set the rates that the caller set."""
        if self._factors is not None:
            for group, rate in zip(self._groups, self._rates, strict=True):
                group["lr"] = rate


# --- averages of the weights -----------------------------------------------------------------------------------------


class Average:
    """a ← βa + (1 − β)w after each step; a/(1 − βᵗ) is the mean of the weights, later ones counting more."""

    def __init__(self, parameters: Sequence[Tensor], decay: float) -> None:
        self.decay, self.count = decay, 0
        self.values = [torch.zeros_like(parameter, requires_grad=False) for parameter in parameters]

    def add(self, parameters: Sequence[Tensor]) -> None:
        """Take the weights after a step into the average."""
        torch._foreach_lerp_(self.values, [parameter.detach() for parameter in parameters], 1 - self.decay)
        self.count += 1

    def means(self) -> Iterator[Tensor]:
        """The average without the zeros it began with."""
        share = 1 - self.decay**self.count
        return (value / share for value in self.values)


def require_decay(average: Any) -> float:
    """The decay β of the average, 0 for the last weights themselves; refused outside [0, 1)."""
    if average is None:
        return 0.0
    if isinstance(average, bool) or not isinstance(average, (int, float)) or not 0 <= average < 1:
        fix = "Give a decay such as 0.99, or None for the weights of the last step."
        raise bad("average", "must be a number from 0 to below 1", average, fix)
    return float(average)
