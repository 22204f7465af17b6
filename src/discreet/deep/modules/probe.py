"""Try a net on invented batches: does any example change what the net and the tape show of another one?

    written      everything that net and loss remember is the same after a pass as before
    repeated     a pass with the same seed gives the same bits
    others       one example stays, and all others are drawn anew; or all others, or one, become zero, huge, not a
                 number, …: rows of the examples that stay are equal to the last bit
    alone        each example by itself, and among 16 others, gives what it gave in its batch, up to rounding
    clipped      the clipped sum is what one-example-at-a-time gradients of plain autograd give, up to rounding

A net that passes may still mix examples in ways that no invented batch shows: docs/proofs/deep/modules.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from discreet.deep.clipping.clipper import Clipper
from discreet.deep.modules.constant import ConstantDraws
from discreet.deep.modules.invented import (
    EXTREMES,
    Batch,
    invented,
    joined,
    mapped,
    picked,
    with_change,
    with_others_of,
)
from discreet.deep.modules.remembered import Memory
from discreet.deep.modules.trace import Net, NotRun, Trace, difference, outputs_of, trace_of
from discreet.errors import BadValue, DiscreetError, short_text

SIZE, MANY = 4, 17  # examples of a batch, and of a larger one
SEEDS = 4  # of dropout, for each of the two probes


@dataclass(frozen=True)
class Probe:
    """A net, one invented batch, and how to invent others like it."""

    net: Net
    inputs: Batch
    targets: Batch
    like: tuple[Batch, Batch]
    normal: bool
    generator: torch.Generator

    @classmethod
    def invent(cls, net: Net, like: tuple[Batch, Batch], *, normal: bool) -> "Probe":
        """A probe with a batch by a generator of its own."""
        generator = torch.Generator().manual_seed(17)
        empty = cls(net, None, None, like, normal, generator)
        inputs, targets = empty.others(SIZE)
        return replace(empty, inputs=inputs, targets=targets)

    def others(self, size: int) -> tuple[Batch, Batch]:
        """As many other invented examples."""
        draw = [invented(part, size, normal=self.normal, generator=self.generator) for part in self.like]
        return draw[0], self._valid(draw[1], size)

    def trace(self, inputs: Batch, targets: Batch, seed: int = 0) -> Trace:
        """The trace of a batch of the usual size; dropout follows the seed."""
        return trace_of(self.net, _copied(inputs), _copied(targets), SIZE, seed)

    def constant_trace(self, inputs: Batch, targets: Batch, size: int = SIZE) -> Trace:
        """The trace of a batch where draws of dropout are the same for every example."""
        with ConstantDraws():
            return trace_of(self.net, _copied(inputs), _copied(targets), size)

    def _valid(self, targets: Batch, size: int) -> Batch:
        """Targets between 0 and 1, as losses of chances need them."""
        if not self.normal:
            return targets
        return invented(self.like[1], size, normal=False, generator=self.generator)


def require_unwritten(probe: Probe) -> None:
    """Refuse a net or loss that remembers something of a pass, or gives something else when called again."""
    before = Memory(probe.net.module, probe.net.loss).digest
    base = probe.trace(probe.inputs, probe.targets)
    for _ in range(2):
        if Memory(probe.net.module, probe.net.loss).digest != before:
            what = "The net or its loss writes to a buffer or an attribute while it computes."
            why = "What it keeps of unprotected examples changes later steps, and stays in the net."
            fix = "Compute it from the example alone, or build it when the net is made"
            raise BadValue(what, why, f"{fix} (a cache may be filled by one call on an invented example).")
        if difference(base, probe.trace(probe.inputs, probe.targets), list(range(SIZE))) is not None:
            what = "The net gives something else when it is called again."
            why = "Examples, weights and PyTorch's own generator do not decide what it computes."
            raise BadValue(what, why, "Draw by torch's generator, and keep no state.")


def require_unmixed(probe: Probe) -> None:
    """Refuse a net or loss in which one example changes what is seen of another."""
    first = SEEDS if probe.normal else 0
    bases = [probe.trace(probe.inputs, probe.targets, first + seed) for seed in range(SEEDS)]
    for number, (inputs, targets, places, is_needed) in enumerate(_neighbours(probe)):
        try:
            other = probe.trace(inputs, targets, first + number % SEEDS)
        except NotRun:
            if is_needed:
                raise
            continue  # a net may refuse an example of such values, but not mix it with others
        mixed = difference(bases[number % SEEDS], other, places)
        if mixed is not None:
            raise _mixing(mixed)


def _neighbours(probe: Probe) -> Iterator[tuple[Batch, Batch, list[int], bool]]:
    """Batches, the places of the examples that are as they were, and whether the net must take the batch."""
    for place in range(SIZE):
        inputs, targets = probe.others(SIZE)
        kept_inputs = with_others_of(probe.inputs, inputs, place)
        yield kept_inputs, with_others_of(probe.targets, targets, place), [place], True
    for number, change in enumerate(EXTREMES.values()):
        place = number % SIZE
        rest = [other for other in range(SIZE) if other != place]
        yield with_change(probe.inputs, place, change), probe.targets, rest, False
        extreme = mapped(probe.inputs, change)
        yield with_others_of(probe.inputs, extreme, place), probe.targets, [place], False
        if probe.targets is not None:
            yield probe.inputs, with_change(probe.targets, place, change), rest, False
    for place in (0, SIZE - 1):
        copied = [*range(SIZE)]
        copied[place] = 1
        rest = [other for other in range(SIZE) if other != place]
        yield picked(probe.inputs, copied), picked(probe.targets, copied), rest, True


def require_alone(probe: Probe) -> Trace:
    """Refuse a net that computes something else from an example in another batch; give the trace of the batch."""
    base = probe.constant_trace(probe.inputs, probe.targets)
    more = probe.others(MANY - SIZE)
    many = joined(probe.inputs, more[0]), joined(probe.targets, more[1])
    _require_close(base, probe.constant_trace(*many, MANY), list(range(SIZE)), list(range(SIZE)))
    for place in range(SIZE):
        try:
            alone = probe.constant_trace(picked(probe.inputs, [place]), picked(probe.targets, [place]), 1)
        except (NotRun, BadValue) as error:
            what = "The net or its loss does not work on a batch of one example."
            why = f"Sampled batches have any size. {error}"
            raise BadValue(what, why, "Use no squeeze() that can drop the first axis, and no fixed size.") from None
        _require_close(base, alone, [place], [0])
    return base


def require_clipped(probe: Probe) -> None:
    """Refuse a net whose clipped sum is not that of gradients computed one example at a time."""
    names, weights = zip(
        *((name, part) for name, part in probe.net.module.named_parameters() if part.requires_grad), strict=True
    )
    gradients = [_gradient_alone(probe, weights, place) for place in range(SIZE)]
    lengths = torch.stack([torch.sqrt(sum(part.square().sum() for part in parts)) for parts in gradients])
    if not bool(lengths.isfinite().all() and (lengths > 1e-12).any()):
        return
    for clip in (1e9 * float(lengths.max()), float(lengths[lengths > 0].min()) / 2):
        factors = torch.clamp(clip / lengths.clamp(min=1e-30), max=1.0)
        clipped = _clipped_sum(probe, min(max(clip, 1e-12), 1e12))
        for place, name in enumerate(names):
            expected = sum(factors[row] * gradients[row][place] for row in range(SIZE))
            scale = sum(factors[row] * gradients[row][place].norm() for row in range(SIZE))
            floor = float((factors * lengths).sum())
            error = float((clipped[name].double() - expected).norm())
            if error > 3e-3 * float(scale) + _floor(weights[place]) * floor:
                what = f"The gradient of {name} cannot be clipped person by person."
                why = "It is used where no call of its own layer is seen, or what its layer was given is overwritten."
                fix = (
                    "Use it only in forward of its own module (no ParameterList), called on examples, and not in place."
                )
                raise BadValue(what, why, fix)


def _gradient_alone(probe: Probe, weights: tuple[Tensor, ...], place: int) -> list[Tensor]:
    """The gradient of one example's loss by plain autograd, in float64."""
    inputs, targets = picked(probe.inputs, [place]), picked(probe.targets, [place])
    with ConstantDraws(), torch.enable_grad():
        losses = probe.net.losses(outputs_of(probe.net.module, inputs), targets)
        try:
            parts = torch.autograd.grad(losses.sum(), weights, allow_unused=True)
        except RuntimeError as error:
            raise NotRun(f"RuntimeError: {short_text(str(error))}") from error
    zeros = [torch.zeros_like(weight) for weight in weights]
    return [(zero if part is None else part).double() for part, zero in zip(parts, zeros, strict=True)]


def _clipped_sum(probe: Probe, clip: float) -> dict[str, Tensor]:
    """The sum that clipping gives, by the name of the parameter."""
    module, net = probe.net.module, probe.net
    with ConstantDraws(), Clipper(module, net.losses, clip=clip) as clipper:
        try:
            total = clipper.total(_copied(probe.inputs), _copied(probe.targets))
        except DiscreetError:
            raise
        except Exception as error:
            what = "The net has a layer that cannot be clipped person by person."
            why = f"Its gradient for single examples raises {type(error).__name__}: {short_text(str(error))}"
            raise BadValue(what, why, "Write it of layers such as nn.Linear.") from error
        return {name: part.clone() for name, part in clipper.layout.views(total).items()}


def _require_close(base: Trace, other: Trace, places: list[int], twins: list[int]) -> None:
    """Refuse traces that differ by more than rounding."""
    if base.parts.keys() != other.parts.keys():
        raise _mixing("which layers are called")
    for key, part in base.parts.items():
        twin = other.parts[key]
        if (part is None) != (twin is None):
            raise _mixing(key[0])
        if part is not None and twin is not None and not _is_close(part[places], twin[twins]):
            raise _mixing(key[0])


def _is_close(some: Tensor, other: Tensor) -> bool:
    if some.shape != other.shape:
        return False
    if not some.is_floating_point():
        return bool((some == other).all())
    tolerance = _floor(some) * float(some.nan_to_num(0, 0, 0).abs().max()) if some.numel() else 0.0
    return bool(torch.isclose(some, other, rtol=1e-3, atol=10 * tolerance + 1e-30, equal_nan=True).all())


def _floor(like: Any) -> float:
    """Rounding errors of a pass, in parts of the largest number: some hundred units."""
    return min(300 * torch.finfo(like.dtype).eps, 0.05)


def _copied(batch: Batch) -> Batch:
    """The batch in memory of its own, as a net may write into what it is given."""
    return mapped(batch, torch.clone)


def _mixing(name: str) -> BadValue:
    what = "The net or its loss mixes examples."
    why = f"One example changes {name} of another, so a person's influence has no bound."
    fix = "Compute each example from itself alone: no mean, sort or selection over the first axis"
    return BadValue(what, why, f"{fix}; for batch norm, dp.deep.replaced(module).")
