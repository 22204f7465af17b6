"""Try a net on invented batches: does any example change what the net and the tape show of another one?

    written      everything that net and loss remember is the same after a pass as before
    repeated     a pass with the same seed gives the same bits
    others       one example stays, and all others are drawn anew, also wildly; or all others, or one, become zero,
                 huge, infinite, not a number, …: rows of the examples that stay are equal to the last bit
    alone        each example by itself, and among 16 others, gives what it gave in its batch, up to rounding

The clipped sum itself is compared in `truth`.  A net that passes may still mix examples in ways that no invented batch
shows: docs/proofs/deep/modules.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from discreet.deep.modules.constant import ConstantDraws
from discreet.deep.modules.invented import (
    EXTREMES,
    STAYING,
    Batch,
    Change,
    Law,
    changed_rows,
    invented,
    joined,
    mapped,
    picked,
    with_change,
    with_others_of,
)
from discreet.deep.modules.remembered import Memory
from discreet.deep.modules.trace import Net, NotRun, Trace, difference, trace_of
from discreet.errors import BadValue

SIZE, MANY = 4, 17  # examples of a batch, and of a larger one
SEEDS, WILD = 4, 8  # seeds of dropout, and batches of numbers of very different sizes, for each of two probes


@dataclass(frozen=True)
class Probe:
    """A net, one invented batch, and how to invent others like it."""

    net: Net
    inputs: Batch
    targets: Batch
    like: tuple[Batch, Batch]
    law: Law
    generator: torch.Generator

    @classmethod
    def invent(cls, net: Net, like: tuple[Batch, Batch], law: Law) -> "Probe":
        """A probe with a batch by a generator of its own."""
        generator = torch.Generator().manual_seed(17)
        empty = cls(net, None, None, like, law, generator)
        inputs, targets = empty.others(SIZE)
        return replace(empty, inputs=inputs, targets=targets)

    def others(self, size: int, law: Law | None = None) -> tuple[Batch, Batch]:
        """As many other invented examples; their targets are between 0 and 1, as losses of chances need them."""
        inputs = invented(self.like[0], size, law or self.law, self.generator)
        return inputs, invented(self.like[1], size, "even", self.generator)

    def trace(self, inputs: Batch, targets: Batch, seed: int = 0) -> Trace:
        """The trace of a batch of the usual size; dropout follows the seed."""
        return trace_of(self.net, copied(inputs), copied(targets), SIZE, seed)

    def constant_trace(self, inputs: Batch, targets: Batch, size: int = SIZE) -> Trace:
        """The trace of a batch where draws of dropout are the same for every example."""
        with ConstantDraws():
            return trace_of(self.net, copied(inputs), copied(targets), size)


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
    first = SEEDS if probe.law == "normal" else 0
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
    for number, name in enumerate(STAYING):
        _require_unmixed_beside(probe, EXTREMES[name], number % SIZE, first)


def _require_unmixed_beside(probe: Probe, change: Change, place: int, seed: int) -> None:
    """Refuse a net or loss in which an extreme example that stays changes with extreme others."""
    inputs = with_change(probe.inputs, place, change)
    try:
        base = probe.trace(inputs, probe.targets, seed)
    except NotRun:
        return  # a net may refuse such an example
    for other_change in EXTREMES.values():
        others = with_others_of(inputs, changed_rows(probe.inputs, other_change), place)
        try:
            mixed = difference(base, probe.trace(others, probe.targets, seed), [place])
        except NotRun:
            continue
        if mixed is not None:
            raise _mixing(mixed)


def _neighbours(probe: Probe) -> Iterator[tuple[Batch, Batch, list[int], bool]]:
    """Batches, the places of the examples that are as they were, and whether the net must take the batch."""
    for place in range(SIZE):
        inputs, targets = probe.others(SIZE)
        kept_inputs = with_others_of(probe.inputs, inputs, place)
        yield kept_inputs, with_others_of(probe.targets, targets, place), [place], True
    for number in range(WILD):
        inputs, targets = probe.others(SIZE, "wild")
        place = number % SIZE
        kept_inputs = with_others_of(probe.inputs, inputs, place)
        yield kept_inputs, with_others_of(probe.targets, targets, place), [place], False
    for number, change in enumerate(EXTREMES.values()):
        place = number % SIZE
        rest = [other for other in range(SIZE) if other != place]
        yield with_change(probe.inputs, place, change), probe.targets, rest, False
        extreme = changed_rows(probe.inputs, change)
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


def _require_close(base: Trace, other: Trace, places: list[int], twins: list[int]) -> None:
    """Refuse traces that differ by more than rounding."""
    if base.parts.keys() != other.parts.keys():
        raise _mixing("which layers are called")
    gradients = [part for call in base.calls for part in call.gradients if part is not None]
    longest = max((float(part.nan_to_num(0, 0, 0).norm()) for part in gradients), default=0.0)
    for key, part in base.parts.items():
        twin = other.parts[key]
        if part is None or twin is None:
            is_close = part is None and twin is None
        elif any(part is gradient for gradient in gradients):
            is_close = _is_close(part[places], twin[twins], _KINKED, rounding(part) * longest)
        else:
            is_close = _is_close(part[places], twin[twins], _SMOOTH, 0.0)
        if not is_close:
            raise _mixing(key[0])


_SMOOTH, _KINKED = 1e-3, 0.05  # of the norm of a row; the gradient at a kink, as relu has one, jumps by rounding


def _is_close(some: Tensor, other: Tensor, share: float, floor: float) -> bool:
    """Whether rows differ by at most this share of their norms, or by the floor."""
    if some.shape != other.shape:
        return False
    if not some.is_floating_point():
        return bool((some == other).all())
    if not bool((some.isnan() == other.isnan()).all()):
        return False
    rows, twins = (
        part.nan_to_num(0).flatten(1) if part.dim() > 1 else part.nan_to_num(0)[:, None]
        for part in (some.double(), other.double())
    )
    norms = torch.linalg.vector_norm(rows, dim=1)
    share = max(share, rounding(some))
    return bool((torch.linalg.vector_norm(rows - twins, dim=1) <= share * norms + floor + 1e-30).all())


def rounding(like: Any) -> float:
    """Rounding errors of a pass, in parts of the largest number: some hundred units."""
    return min(300 * torch.finfo(like.dtype).eps, 0.05)


def copied(batch: Batch) -> Batch:
    """The batch in memory of its own, as a net may write into what it is given."""
    return mapped(batch, torch.clone)


def _mixing(name: str) -> BadValue:
    what = "The net or its loss mixes examples."
    why = f"One example changes {name} of another, so a person's influence has no bound."
    fix = "Compute each example from itself alone: no mean, sort or selection over the first axis"
    return BadValue(what, why, f"{fix}; for batch norm, dp.deep.replaced(module).")
