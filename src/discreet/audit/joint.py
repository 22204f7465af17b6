"""The joint law of many independent numbers, as far as it tells two neighbours apart.

A number with the same law on both sides tells nothing: all four measures of brute.py are the same without it.  Of those
that move only by how far matters, for a shift of both sides is undone by the reader.  And outputs of one loss,
ln(P/Q), can be joined without changing any measure.  So a measurement of hundreds of numbers has a short law.

Where that is not short enough, as with Gaussian noise, outputs of nearly the same loss are joined.  Joining outputs is
post-processing: every bound read off what is left holds for the whole.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import arb, ctx

from discreet.audit.laws import Numbers, OutputLaw, Told, windowed
from discreet.mechanism.additive import Law as Noise
from discreet.noise.laplace import DiscreteLaplace

Sides = tuple[OutputLaw, OutputLaw]
Moves = tuple[tuple[Noise, int], ...]
_FINE, _COARSE = 2**30, 2**3  # steps of loss in 1: all that are not equal told apart, and as many as are worth it
_MOST = 300  # outputs
_NONE = arb(0)
_SURE = 1e6  # stands for the loss of outputs that only one side may have
_REACH = 6  # standard deviations of Gaussian noise that are told apart


@dataclass(frozen=True)
class Loss:
    """All outputs whose odds are about e^loss."""

    steps: int

    def __str__(self) -> str:
        return f"odds e^{self.steps / _FINE:.4g}"


def told_apart(laws: Mapping[Any, Told], pairs: Iterable[tuple[Any, Any]]) -> list[Sides]:
    """The two laws of each pair; of pairs of many numbers one for all that move alike."""
    found: list[Sides] = []
    moves: dict[Moves, None] = {}
    for one, other in pairs:
        match laws[one], laws[other]:
            case dict() as p, dict() as q:
                found.append((p, q))
            case tuple() as p, tuple() as q:
                moves[_moves(p, q)] = None
            case _:
                raise TypeError("the two laws of a pair must be of one kind")
    return [*found, *(joint(each, ctx.prec) for each in moves)]


def _moves(one: Numbers, other: Numbers) -> Moves:
    """The noise of each number that differs, and by how much; in one order, since places do not matter."""
    differ = [(a.noise, b.at - a.at) for a, b in zip(one, other, strict=True) if a.at != b.at]
    return tuple(sorted(differ, key=repr))


@lru_cache(maxsize=1 << 10)
def joint(moves: Moves, bits: int) -> Sides:
    """Both laws, by loss, of numbers that are 0 on one side and moved on the other."""
    found: Sides = {Loss(0): arb(1)}, {Loss(0): arb(1)}
    for noise, step in moves:
        window = _window(noise, step)
        found = _beside(found, (windowed(noise, 0, window), windowed(noise, step, window)))
    return found


def _beside(found: Sides, one: Sides) -> Sides:
    """Both laws with one number more, outputs of one loss joined; where those are too many, of nearly one loss."""
    before = [(_loss(found, y), found[0][y], found[1][y]) for y in found[0]]
    each = [(_loss(one, y), one[0][y], one[1][y]) for y in one[0]]
    losses = [a + b for a, _, _ in before for b, _, _ in each]
    steps = [round(loss * _FINE) for loss in losses]
    if len(set(steps)) > _MOST:
        steps = [round(loss * _COARSE) * (_FINE // _COARSE) for loss in losses]
    first, second = dict.fromkeys(steps, _NONE), dict.fromkeys(steps, _NONE)
    at = iter(steps)
    for _, p, q in before:
        for _, a, b in each:
            step = next(at)
            first[step] += p * a
            second[step] += q * b
    return {Loss(step): p for step, p in first.items()}, {Loss(step): q for step, q in second.items()}


def _loss(sides: Sides, output: Any) -> float:
    """ln(P/Q), about: it only says what is joined, which may be anything.

    The logarithm is taken of the balls, for odds may lie beyond all floats.  Where a chance may be 0 there is none; the
    larger chance then says on which side the output stands, apart from all outputs that both sides share.
    """
    p, q = sides[0][output], sides[1][output]
    loss = float((p.log() - q.log()).mid())
    if math.isfinite(loss):
        return loss
    return _SURE if p.mid() >= q.mid() else -_SURE


def _window(noise: Noise, step: int) -> range:
    """Between the two sides for Laplace noise, whose loss is the same all along each tail."""
    match noise:
        case DiscreteLaplace():
            reach = 0
        case _:
            reach = math.ceil(_REACH * noise.sigma) + 4 * abs(step)
    return range(min(0, step) - reach, max(0, step) + reach + 1)
