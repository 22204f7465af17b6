"""What one pass through a net shows of each example: outputs, losses, and what the tape of clipping records.

Clipping adds up functions of the tape's rows.  So it is enough that row i of the tape depends on example i alone.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discreet.deep.clipping import layers, others
from discreet.deep.clipping.order import Forward
from discreet.deep.clipping.tape import Call, Tape
from discreet.deep.modules.invented import Batch
from discreet.errors import BadValue, DiscreetError
from discreet.inert import visible

Loss = Callable[[Any, Any], Tensor]
_Parts = dict[tuple[str, int], Tensor | None]


_LONGEST_TOLD = 400


class NotRun(Exception):
    """The net or its loss raised an exception on an invented batch."""


def sentence_of(error: Exception) -> str:
    """What an exception says, on one line; the rows that it speaks of are invented."""
    return visible(f"{type(error).__name__}: {' '.join(str(error).split())}"[:_LONGEST_TOLD])


@dataclass(frozen=True, eq=False)
class Net:
    """A net with its loss, and the names of its layers."""

    module: nn.Module
    loss: Loss | None
    names: Mapping[nn.Module, str]

    @classmethod
    def copy_of(cls, module: nn.Module, loss: Loss | None) -> "Net":
        """Copies of both, with what they share still shared."""
        try:
            duplicate, own_loss = copy.deepcopy((module, loss))
        except Exception as error:
            what = "The net cannot be copied."
            why = f"It is tried on a copy, and copying raises {type(error).__name__}."
            raise BadValue(what, why, "Keep out of it what copy.deepcopy cannot copy.") from None
        return cls(duplicate, own_loss, {layer: name for name, layer in duplicate.named_modules()})

    def name_of(self, layer: nn.Module) -> str:
        """How a message names a layer."""
        name = self.names.get(layer, "")
        return f"{name} ({type(layer).__name__})" if name else type(layer).__name__

    def losses(self, outputs: Any, targets: Any) -> Tensor:
        """One number for each example; without a loss, one that depends on every output."""
        return _sum_of_outputs(outputs) if self.loss is None else self.loss(outputs, targets)


@dataclass(frozen=True, eq=False)
class Trace:
    """What a pass showed: tensors with examples along the first axis, each by its name in a message and a number."""

    parts: Mapping[tuple[str, int], Tensor | None]
    calls: Sequence[Call]

    @property
    def losses(self) -> Tensor:
        losses = self.parts["the losses", 0]
        assert losses is not None
        return losses

    def is_telling(self) -> bool:
        """Whether all numbers are finite, and some gradient is not zero."""
        gradients = [part for call in self.calls for part in call.gradients if part is not None]
        is_finite = all(bool(part.isfinite().all()) for part in self.parts.values() if part is not None)
        return is_finite and any(bool(part.any()) for part in gradients)


def trace_of(net: Net, inputs: Batch, targets: Batch, size: int, seed: int = 0) -> Trace:
    """The trace of a batch of `size` examples; dropout follows the seed.  `NotRun` if the net cannot take the batch."""
    torch.manual_seed(seed)
    tape = Tape(others.owners_of_parameters(net.module))
    try:
        with torch.enable_grad():
            try:
                outputs = Forward(net.module)(inputs, tape.start)
                shown = dict(_shown_outputs(outputs, size, is_needed=net.loss is None))
                losses = net.losses(outputs, targets)
            except DiscreetError:
                raise
            except Exception as error:
                raise NotRun(sentence_of(error)) from error
            _require_unseeded(seed)
            _require_losses(losses, size)
            try:
                calls = tape.calls(losses)
            except RuntimeError as error:
                raise NotRun(sentence_of(error)) from error
    finally:
        tape.close()
    given, gradients = _records(net, calls, size)
    return Trace({**given, **shown, ("the losses", 0): losses.detach(), **gradients}, calls)


def difference(base: Trace, other: Trace, places: list[int]) -> str | None:
    """The first part in which these examples differ, as a message names it; None if they are equal to the last bit."""
    if base.parts.keys() != other.parts.keys():
        return "which layers are called"
    for key, part in base.parts.items():
        twin = other.parts[key]
        if (part is None) != (twin is None):
            return key[0]
        if part is not None and twin is not None and not _is_equal(part[places], twin[places]):
            return key[0]
    return None


def _is_equal(some: Tensor, other: Tensor) -> bool:
    if some.shape != other.shape or some.dtype != other.dtype:
        return False
    return bool(((some == other) | ((some != some) & (other != other))).all())


def _require_unseeded(seed: int) -> None:
    """Refuse a net that seeds PyTorch's generator: draws that everybody knows hide nobody."""
    if torch.initial_seed() != seed:
        what = "The net or its loss seeds PyTorch's generator."
        why = "Draws in training are secret, and go by place in the batch."
        raise BadValue(what, why, "Draw without a seed, by torch.rand, nn.Dropout and the like.")


def _require_losses(losses: Any, size: int) -> None:
    fix = 'Use reduction="none", and average what belongs to one example.'
    if isinstance(losses, Tensor) and losses.dim() > 1:
        fix = "Give outputs and targets the same shape, and write: lambda o, t: loss(o, t).flatten(1).mean(1)"
    if not isinstance(losses, Tensor) or losses.shape != (size,):
        given = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
        what = "The loss must give one number for each example, not a mean or a sum over them."
        raise BadValue(what, f"For {size} examples it gives {given}.", fix)
    if not losses.requires_grad:
        what = "The loss does not depend on any weight that is trained."
        raise BadValue(what, "Its gradient is zero whatever the examples are.", "Set requires_grad on weights.")


def _records(net: Net, calls: Sequence[Call], size: int) -> tuple[_Parts, _Parts]:
    """What each recorded call was given, and the gradients at its outputs."""
    given: _Parts = {}
    gradients: _Parts = {}
    for call in calls:
        layer = f"layer {net.name_of(call.layer)}"
        held = [*call.args, *call.kwargs.values()]
        if any(isinstance(part, (tuple, list, dict, set)) for part in held):
            what = f"The {layer} is given a list or a dict."
            raise BadValue(what, "Its weights are clipped by the tensors that it is given.", "Give it tensors.")
        if layers.is_known(call.layer):
            held = held[:1]
        for part in held:
            if isinstance(part, Tensor):
                _require_examples_first(layer, part, size)
                given[f"what the {layer} is given", len(given)] = part
        for gradient in call.gradients:
            if gradient is not None:
                _require_examples_first(layer, gradient, size)
            gradients[f"the gradient at the {layer}", len(gradients)] = gradient
    return given, gradients


def _require_examples_first(layer: str, part: Tensor, size: int) -> None:
    if part.dim() > 0 and len(part) == size:
        return
    what = f"The {layer} does not see one example in each place of its first axis."
    why = f"For {size} examples it is given or gives {tuple(part.shape)}, so its gradient cannot be clipped by person."
    fix = "Give it every example: x of shape (examples, …), not folded, selected, transposed or shared by all,"
    raise BadValue(what, why, f"{fix} such as positions.expand(len(x), -1).")


def _shown_outputs(outputs: Any, size: int, *, is_needed: bool) -> Iterator[tuple[tuple[str, int], Tensor]]:
    """The outputs that have examples along the first axis; all must, where there is no loss to judge by."""
    for place, part in enumerate(_tensors_in(outputs)):
        if part.dim() > 0 and len(part) == size:
            yield ("the output", place), part.detach()
        elif is_needed or isinstance(outputs, Tensor):
            what = "The net's output does not have one example in each place of its first axis."
            raise BadValue(what, f"For {size} examples its shape is {tuple(part.shape)}.", "Put examples first.")


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors_in(part)
    elif isinstance(value, Mapping):
        yield from _tensors_in(list(value.values()))


def _sum_of_outputs(outputs: Any) -> Tensor:
    """Σ wy + y²/2 over the numbers y of each example, with weights w between ½ and 1½."""
    total: Any = None
    for part in _tensors_in(outputs):
        if part.is_floating_point() and part.dim() > 0:
            flat = part.flatten(1) if part.dim() > 1 else part[:, None]
            weights = torch.linspace(0.5, 1.5, flat.shape[1], dtype=flat.dtype, device=flat.device)
            term = (flat * weights + flat * flat / 2).sum(1)
            total = term if total is None or total.shape != term.shape else total + term
    if total is None:
        raise BadValue("The net gives no tensor of numbers.", "There is nothing to derive.", "Return a tensor.")
    result: Tensor = total
    return result
