"""Compare what clipping adds up with gradients of plain autograd, on invented examples, up to rounding.

one by one    Σ f(‖g_i‖)·g_i with g_i from a batch of example i alone, for one C that clips nothing and one that
              clips every example; random draws are one constant
as drawn      Σ g_i from the whole batch, with the same seed: draws that clipping makes anew would show here
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from discreet.deep.clipping.clipper import Clipper
from discreet.deep.clipping.order import outputs_of
from discreet.deep.modules.constant import ConstantDraws
from discreet.deep.modules.invented import picked
from discreet.deep.modules.probe import SIZE, Probe, copied, rounding
from discreet.deep.modules.trace import NotRun, sentence_of
from discreet.errors import BadValue, DiscreetError, short_text

_SHARE = 0.02  # of the norms of all terms: rounding makes the gradient at a kink jump, and clipping has a margin
_UNSEEN = (
    "It is used where no call of its own layer is seen, or what its layer was given is overwritten.",
    "Use it only in forward of its own module (no ParameterList), called on examples, and not in place.",
)
_DRAWN_ANEW = (
    "Its module draws at random, as dropout does, and clipping runs that module once more, with other draws.",
    "Move it into a small module of its own, without dropout.",
)


def require_clipped(probe: Probe) -> None:
    """Refuse a net whose clipped sum is not that of gradients computed by plain autograd."""
    named = [(name, part) for name, part in probe.net.module.named_parameters() if part.requires_grad]
    weights = [part for _, part in named]
    with ConstantDraws():
        rows = [_gradients(probe, weights, [place]) for place in range(SIZE)]
    lengths = [float(torch.sqrt(sum(part.square().sum() for part in row))) for row in rows]
    if not all(length < 1e12 for length in lengths) or max(lengths) < 1e-9:
        return  # not finite, or nothing to compare; `check` asks for one probe that is finite
    for clip in (1e12, min(length for length in lengths if length > 1e-9) / 2):
        factors = [min(1.0, clip / max(length, 1e-30)) for length in lengths]
        with ConstantDraws():
            clipped = _clipped_sum(probe, clip)
        floor = sum(factor * length for factor, length in zip(factors, lengths, strict=True))
        for place, (name, weight) in enumerate(named):
            terms = [factor * row[place] for factor, row in zip(factors, rows, strict=True)]
            _require_equal(name, clipped[name], terms, rounding(weight) * floor, _UNSEEN)
    torch.manual_seed(0)
    whole = _gradients(probe, weights, list(range(SIZE)))
    torch.manual_seed(0)
    clipped = _clipped_sum(probe, 1e12)
    for place, (name, weight) in enumerate(named):
        _require_equal(name, clipped[name], [whole[place]], rounding(weight) * sum(lengths), _DRAWN_ANEW)


def _require_equal(name: str, clipped: Tensor, terms: Sequence[Tensor], floor: float, reason: tuple[str, str]) -> None:
    """Refuse a sum that differs from that of the terms by more than rounding and the margin of clipping."""
    error = float((clipped.double() - sum(terms)).norm())
    if not error <= _SHARE * sum(float(term.norm()) for term in terms) + floor:
        what = f"The gradient of {name} cannot be clipped person by person."
        raise BadValue(what, *reason)


def _gradients(probe: Probe, weights: Sequence[Tensor], places: list[int]) -> list[Tensor]:
    """The gradient of the losses of some examples by plain autograd, in float64."""
    inputs, targets = picked(probe.inputs, places), picked(probe.targets, places)
    losses = probe.net.losses(outputs_of(probe.net.module, inputs), targets)
    try:
        parts = torch.autograd.grad(losses.sum(), weights, allow_unused=True)
    except RuntimeError as error:
        raise NotRun(sentence_of(error)) from error
    zeros = [torch.zeros_like(weight) for weight in weights]
    return [(zero if part is None else part).double() for part, zero in zip(parts, zeros, strict=True)]


def _clipped_sum(probe: Probe, clip: Any) -> dict[str, Tensor]:
    """The sum that clipping gives, by the name of the parameter."""
    with Clipper(probe.net.module, probe.net.losses, clip=clip) as clipper:
        try:
            total = clipper.total(copied(probe.inputs), copied(probe.targets))
        except DiscreetError:
            raise
        except Exception as error:
            what = "The net has a layer that cannot be clipped person by person."
            why = f"Its gradient for single examples raises {type(error).__name__}: {short_text(str(error))}"
            raise BadValue(what, why, "Write it of layers such as nn.Linear.") from error
        return {name: part.clone() for name, part in clipper.layout.views(total).items()}
