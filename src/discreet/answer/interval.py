"""Intervals for a quotient of two noisy numbers, and for what is made of quotients.

With T = Στ + X and N = n + Y the noisy total and count, a true mean t = Στ/n makes T − t·N = X − t·Y.  So

    {t : |T − t·N| ≤ q(t)},    P[|X − t·Y| ≤ q(t)] ≥ level for each t

holds the true mean with probability ≥ level (Fieller 1954).  Its hull within the public range is what is returned.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.answer.spread import PairRadius
from discreet.ndarrays import Bools, Floats

_TURNS = 100
_ULP = 2.0**-52
_BOXES = 8
_SETTLED = 1e-12
_FLOAT = 2.0**-50  # rounding of T − t·N in floats, relative to |T| + |t·N|


@dataclass(frozen=True)
class Range:
    """Low and high ends, cell by cell."""

    low: Floats
    high: Floats

    def clipped(self, low: Floats | float, high: Floats | float) -> "Range":
        """The range cut to these ends, between which the true value certainly lies."""
        return Range(np.clip(self.low, low, high), np.clip(self.high, low, high))

    def wider(self, by: Floats | float) -> "Range":
        return Range(self.low - by, self.high + by)

    def scaled(self, by: float) -> "Range":
        """The range times a positive number, rounded outward."""
        return outward(self.low * by, self.high * by)


def outward(low: Floats, high: Floats) -> Range:
    """The range with its ends moved apart by more than a few roundings of floats."""
    return Range(low - np.abs(low) * 1e-14, high + np.abs(high) * 1e-14)


def quotient_range(total: Floats, count: Floats, radius: PairRadius, reach: Floats) -> Range:
    """The hull of all t in [−reach, reach] with |total − t·count| ≤ radius(t); all of it where count ≤ 0 or none fits.

    Each end is one that `radius` refuses, or the end of the range: outward at any number of turns.
    """
    flipped = total < 0
    top, bottom = np.abs(total), np.where(count > 0, count, 1.0)

    def allowance(t: Floats) -> Floats:
        slack: Floats = _FLOAT * (top + np.abs(t) * bottom)
        return radius(t) + slack

    high = _falling(reach, lambda t: (top + allowance(t)) / bottom)
    below = _falling(reach, lambda t: (allowance(t) - top) / bottom)
    low, empty = _rising(top, bottom, allowance, reach)
    low = np.where(below < 0, low, -below)
    unbounded = (count <= 0) | (empty & (below < 0))
    low, high = np.where(unbounded, -reach, low), np.where(unbounded, reach, high)
    return Range(np.where(flipped, -high, low), np.where(flipped, -low, high))


def _falling(start: Floats, step: PairRadius) -> Floats:
    """The largest t ≤ start with t ≤ step(t), from above: each turn t ← min(t, step(t)) keeps all such t ≥ 0 below.

    step grows with t, so t' ≤ t and t' ≤ step(t') give t' ≤ step(t).  Below 0 there is none: left there.
    """
    t = start.copy()
    for _ in range(_TURNS):
        lower = np.where(t < 0, t, np.minimum(t, step(np.maximum(t, 0.0))))
        change, t = t - lower, lower
        if not (change > _SETTLED * (np.abs(t) + 1e-300)).any():
            break
    return t


def _rising(top: Floats, bottom: Floats, allowance: PairRadius, reach: Floats) -> tuple[Floats, Bools]:
    """The least t in [0, reach] with top − t·bottom ≤ allowance(t), from below, and whether there is none.

    The left side falls and the right stays above a bound that grows, so no t below a refused one counts.
    """
    low, high = np.zeros_like(top), np.minimum(top / bottom, reach)
    at_low, at_high = allowance(low), allowance(high)
    empty = top - high * bottom > at_high
    for turn in range(_TURNS):
        # (top − allowance(t))/bottom lies below the end for t above it, and above for t below: closer than halving
        guess = ((low + high) / 2, (top - at_high) / bottom, (top - at_low) / bottom)[(turn + 1) % 3]
        inside = _ULP * high
        is_open = high - low > 2 * inside
        if not is_open.any():
            break
        point = np.where(is_open, np.clip(guess, low + inside, high - inside), high)
        at_point = allowance(point)
        refused = top - point * bottom > at_point
        low, at_low = np.where(refused, point, low), np.where(refused, at_point, at_low)
        high, at_high = np.where(refused, high, point), np.where(refused, at_high, at_point)
    return low, empty


# --- moments ---------------------------------------------------------------------------------------------------------


def moment_range(start: Range, estimate: Floats, bend: Range, radius: Callable[[Range], Floats]) -> Range:
    """All v of `start` with v̂ + bend.low − r ≤ v ≤ v̂ + bend.high + r, r = radius(all v still held), turn by turn.

    If the true v is held and its own noise is within radius(v) ≤ r, it stays held.  Where none is left: all of `start`.
    """
    ends = start
    for _ in range(_BOXES):
        r = radius(ends)
        low, high = np.maximum(start.low, estimate + bend.low - r), np.minimum(start.high, estimate + bend.high + r)
        none = ~(low <= high)
        ends = Range(np.where(none, start.low, low), np.where(none, start.high, high))
    return ends


def squares(values: Range) -> Range:
    """v² for all v of a range."""
    smallest, largest = sizes(values)
    return Range(smallest**2, largest**2)


def products(x: Range, y: Range) -> Range:
    """x·y for all x and y of two ranges."""
    corners = np.stack([x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high])
    return Range(corners.min(axis=0), corners.max(axis=0))


def correlation_range(covariance: Range, x: Range, y: Range) -> Range:
    """c/√(v_x·v_y) for all covariances and variances in the ranges, within ±1; a variance that may be 0 leaves the
    whole range on the side of a covariance that is not."""
    smallest, largest = np.sqrt(x.low * y.low), np.sqrt(x.high * y.high)
    low = _quotient(covariance.low, np.where(covariance.low < 0, smallest, largest), -1.0)
    high = _quotient(covariance.high, np.where(covariance.high > 0, smallest, largest), 1.0)
    return outward(low, high).clipped(-1.0, 1.0)


def _quotient(top: Floats, bottom: Floats, default: float) -> Floats:
    positive = bottom > 0
    return np.where(positive, top / np.where(positive, bottom, 1.0), default)


def sizes(values: Range) -> tuple[Floats, Floats]:
    """The least and the greatest |v| in the range."""
    smallest = np.maximum(np.maximum(values.low, -values.high), 0.0)
    return smallest, np.maximum(np.abs(values.low), np.abs(values.high))
