"""The joint law of many independent numbers, as far as it tells two neighbours apart.

A number with the same law on both sides tells nothing: all four measures of brute.py are the same without it.  Of a
number that moves only the distance matters, for a reader can undo a shift of both sides.  Outputs of one loss, ln(P/Q),
can be joined without changing any measure.  So a measurement of hundreds of numbers has a short law.

Where that is not short enough, as with Gaussian noise, outputs of nearly the same loss are joined.  Joining outputs is
post-processing: every bound read off what is left holds for the whole.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from flint import arb, ctx

from discreet.audit.laws import ExactLaw, Numbers, OutputLaw, window_law
from discreet.mechanism.additive import Law as Noise
from discreet.noise.laplace import DiscreteLaplace

Sides = tuple[OutputLaw, OutputLaw]
Moves = tuple[tuple[Noise, int], ...]
_FINE, _COARSE = 2**30, 2**3  # steps of loss in 1: finely enough to tell unequal ones apart, and coarsely
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


def side_laws(laws: Mapping[Any, ExactLaw], pairs: Iterable[tuple[Any, Any]]) -> list[Sides]:
    """The two laws of each pair; pairs of many numbers that move alike give one."""
    sides: list[Sides] = []
    moves: dict[Moves, None] = {}
    for first, second in pairs:
        match laws[first], laws[second]:
            case dict() as p, dict() as q:
                sides.append((p, q))
            case tuple() as p, tuple() as q:
                moves[_moves(p, q)] = None
            case _:
                raise TypeError("the two laws of a pair must be of one kind")
    return [*sides, *(joint(move, ctx.prec) for move in moves)]


def _moves(first: Numbers, second: Numbers) -> Moves:
    """The noise of each number that differs, and by how much; in one order, since places do not matter."""
    differ = [(a.noise, b.exact - a.exact) for a, b in zip(first, second, strict=True) if a.exact != b.exact]
    return tuple(sorted(differ, key=repr))


@lru_cache(maxsize=1 << 10)
def joint(moves: Moves, bits: int) -> Sides:
    """Both laws, by loss, of numbers that are 0 on one side and moved on the other."""
    sides: Sides = {Loss(0): arb(1)}, {Loss(0): arb(1)}
    for noise, step in moves:
        window = _window(noise, step)
        sides = _with_number(sides, (window_law(noise, 0, window), window_law(noise, step, window)))
    return sides


def _with_number(sides: Sides, number: Sides) -> Sides:
    """Both laws with one number more, outputs of one loss joined; where those are too many, of nearly one loss."""
    old, new = ([(_loss(laws, y), laws[0][y], laws[1][y]) for y in laws[0]] for laws in (sides, number))
    losses = [a + b for a, _, _ in old for b, _, _ in new]
    steps = [round(loss * _FINE) for loss in losses]
    if len(set(steps)) > _MOST:
        steps = [round(loss * _COARSE) * (_FINE // _COARSE) for loss in losses]
    first, second = dict.fromkeys(steps, _NONE), dict.fromkeys(steps, _NONE)
    for step, ((_, p, q), (_, a, b)) in zip(steps, product(old, new), strict=True):
        first[step] += p * a
        second[step] += q * b
    return {Loss(step): p for step, p in first.items()}, {Loss(step): q for step, q in second.items()}


def _loss(sides: Sides, output: Any) -> float:
    """ln(P/Q), approximately: it only decides what is joined, and any choice is sound.

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
