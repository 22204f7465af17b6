"""Intervals of shares of noisy counts: all the values that the noise leaves possible.

    p = A/(A + B),   a = A + noise,   b = B + noise,   T(p) = (1 − p)·a − p·b

At the exact p nothing but noise is left of T, and how far that spreads is public: so the p with |T(p)| ≤ r(p) hold the
exact share as often as r promises, however few persons there are (Fieller 1954).  Noise is two-sided geometric: at most
a step, and where it is wide hardly more than half a step, from continuous Laplace noise.  Proof page:
docs/proofs/learn/heldout/score.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet import amounts
from discreet.ndarrays import Bools, Floats

_POINTS = 501
_ROUNDS = 6  # of looking for a border, each 64 times as fine as the one before


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that it lies in; None where the noise says nothing about it."""

    value: float | None
    low: float
    high: float

    def scaled(self, factor: float) -> "Estimate":
        """All three times a positive number."""
        return Estimate(None if self.value is None else self.value * factor, self.low * factor, self.high * factor)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


def outward(low: float, high: float, places: int) -> tuple[str, str]:
    """The ends of an interval for people: rounded, and never to a narrower one.

    >>> outward(0.74926, 0.76471, 4), outward(0.5, 1.0, 1), outward(1570.2, 1613.1, 0)
    (('0.7492', '0.7648'), ('0.5', '1.0'), ('1,570', '1,614'))
    """
    step = 10**places
    ends = floor(round(low * step, 6)) / step, ceil(round(high * step, 6)) / step
    return f"{ends[0]:,.{places}f}", f"{ends[1]:,.{places}f}"


def upward(width: float, digits: int) -> str:
    """A width for people, in so many digits and never narrower.

    >>> upward(5.2401, 3), upward(0.0301, 2), upward(12341.0, 3), upward(1.0, 3)
    ('5.25', '0.031', '12,400', '1')
    """
    return f"{amounts.rounded_up(Fraction(f'{width:.9g}'), digits):,f}"


@dataclass(frozen=True)
class Law:
    """The noise of the counts: its scale and variance, the level that is asked for, and what the interval is about."""

    scale: float
    variance: float
    level: Fraction
    is_population: bool = False
    rows: int = 1  # of one person at most


def width_factor(level: Fraction) -> float:
    """How many standard deviations hold a sum of Laplace noises, each with any factor, as often as the level says.

    The larger of a normal variable's and of one Laplace variable's: all sums that were computed need no more, which is
    not proven for every sum.
    """
    return max(NormalDist().inv_cdf(float(1 + level) / 2), -log(float(1 - level)) / sqrt(2))


def count_estimate(noisy: int, *, scale: float, numbers: int, level: Fraction, step: int = 1) -> Estimate:
    """A count that is the sum of several noisy numbers, in steps of which `step` are one person; never below 0."""
    radius = width_factor(level) * sqrt(2 * numbers) * scale + 1 / 2  # the sum is a whole number of steps
    return Estimate(max(noisy, 0) / step, max(noisy - radius, 0) / step, max(noisy + radius, 0) / step)


def share_estimate(
    yes: int,
    no: int,
    *,
    scale: float,
    level: Fraction,
    numbers: tuple[int, int] = (1, 1),
    drawn: float = 0.0,
) -> Estimate:
    """The share yes/(yes + no), where each side is the sum of so many noisy numbers.

    With `drawn` it is about the population: the variance of T is larger by drawn·(yes + no)·p·(1 − p), which holds for
    persons drawn independently who each add up to `drawn` steps.
    """
    total = yes + no

    def accepts(shares: Floats) -> Bools:
        radii = _share_radii(shares, total, scale=scale, level=level, numbers=numbers, drawn=drawn)
        accepted: Bools = np.abs(yes - shares * total) <= radii
        return accepted

    value = min(max(yes / total, 0.0), 1.0) if total > 0 else None
    return estimate_of(value, *hull(accepts, value))


def share_moe(
    total: int,
    *,
    scale: float,
    level: Fraction,
    numbers: tuple[int, int] = (1, 1),
    drawn: float = 0.0,
    highest: float = 1.0,
) -> float:
    """About the ± of a share of so many, at the share up to `highest` where it is widest; at most 1."""
    shares = np.linspace(0.0, highest, _POINTS)
    radii = _share_radii(shares, total, scale=scale, level=level, numbers=numbers, drawn=drawn)
    return min(float(radii.max()) / total, 1.0)


def _share_radii(
    shares: Floats, total: int, *, scale: float, level: Fraction, numbers: tuple[int, int], drawn: float
) -> Floats:
    """r(p) for each of the shares."""
    rest = 1 - shares
    noise = 2 * scale**2 * (numbers[0] * rest**2 + numbers[1] * shares**2)
    spread = width_factor(level) * np.sqrt(noise + drawn * max(total, 0) * shares * rest)
    radii: Floats = spread + (numbers[0] * rest + numbers[1] * shares) / 2
    return radii


def estimate_of(value: float | None, low: float, high: float) -> Estimate:
    """The estimate, without a value where its interval is all of 0 … 1."""
    return Estimate(None if low <= 0 and high >= 1 else value, low, high)


def hull(accepts: Callable[[Floats], Bools], value: float | None) -> tuple[float, float]:
    """The least interval within 0 … 1 that holds all accepted numbers; all of it where none is accepted."""
    grid = np.linspace(0.0, 1.0, _POINTS)
    if value is not None:
        grid = np.unique(np.append(grid, value))
    places = np.flatnonzero(accepts(grid))
    if not len(places):
        return 0.0, 1.0
    first, last = int(places[0]), int(places[-1])
    low = 0.0 if first == 0 else _border(accepts, float(grid[first - 1]), float(grid[first]))
    high = 1.0 if last == len(grid) - 1 else _border(accepts, float(grid[last + 1]), float(grid[last]))
    return low, high


def _border(accepts: Callable[[Floats], Bools], outside: float, inside: float) -> float:
    """A number just outside of the accepted ones, between the two."""
    for _ in range(_ROUNDS):
        points = np.linspace(outside, inside, 65)
        place = max(int(np.argmax(np.append(accepts(points[1:-1]), True))), 0)
        outside, inside = float(points[place]), float(points[place + 1])
    return outside
