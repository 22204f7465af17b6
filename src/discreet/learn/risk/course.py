"""The course of a descent, from its noise and a noisy number n of units: how many passes, how fast, how far clipped.

With s the noise of one pass over √T at C₀ = .67·√(K + 1), τ = .43·W/√K the spread of a weight and λ = s/τ:

    κ = 1 + L·n/λ        T = ⌈3.5·√κ⌉, beyond 30 only 30·(κ/73)^⅛, at most `passes`
    C = C₀·max(1, κ/κ₀)^¼, at most the longest row; κ₀ = 100 for numbers, 1000 for classes
    β = min(1 − .75·T/κ, 1 − 6/T), at least 0        rate = min(1, κ(1 − β)/(.75·T)) · min(1, (κ − 1)/3)/(L·n + λ)

L and W stand for the curvature and the reach of the loss.  Slopes are clipped to ρ of their bound: .7 where noise is
large (κ < 100 at ρ = 1), 1 otherwise.  For numbers, whose loss is Huber's, ρ is .4, and where noise is small (κ > 1000
at ρ = .4) it is 1: a residual beyond half the range is rare, so this is nearly least squares.

A number whose mean m lies near one of its bounds varies little: its variance is at most 1 − m².  Its rate is
1/(2(1 − m² + λ/(L·n))) times as fast, at least once and at most 64 times; in a regression only from κ = 1000 on.
The constants were chosen by trying them (docs/claims.md).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np

from discreet.kernel.encode import UNIT
from discreet.learn.risk.design_columns import DesignColumns
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints

FEW_PASSES, _FEW_KAPPA = 30, 73.0  # beyond that many, at κ = 73, passes grow by an eighth root
_NORM, _SPREAD, _NOISY_KAPPA = 0.67, 0.43, 100.0
_CURVATURE = {"logistic": 0.25, "softmax": 0.25, "hinge": 0.25, "huber": 1.0}
_REACH = {"logistic": 3.0, "softmax": 3.0, "hinge": 3.0, "huber": 1.0}
_STEEP = {"huber": Fraction(4, 10)}  # of the bound of a slope; the others have .7 where noise is large
_LESS_STEEP = Fraction(7, 10)
_STEADY_KAPPA = 1000.0  # from that κ on rows of classes and slopes of a regression are clipped less
_WIDER_KAPPA = {"huber": 100.0}  # the same for rows of a regression
_SLOWEST, _FASTEST = 1.0, 64.0  # a number's own rate


@dataclass(frozen=True)
class Limits:
    """What a pass may at most have: rows of that norm, slopes that steep, and that many others beside it."""

    norm: Fraction
    slope: Fraction
    passes: int


@dataclass(frozen=True, eq=False)
class Course:
    """Passes, momentum, the rate of each column, and what slopes and rows are clipped to."""

    passes: int
    momentum: float
    rates: Floats
    slope: Fraction
    norm: Fraction


@dataclass(frozen=True)
class Rule:
    """How a course follows from κ; `noise` is that of one pass over √T for a norm and a slope of 1."""

    columns: DesignColumns
    noise: float
    first_norm: Fraction

    @property
    def usual_slope(self) -> Fraction:
        """What slopes are clipped to unless noise is large or, for a number, small."""
        return slope_bound(self.columns.loss) * _STEEP.get(self.columns.loss, Fraction(1))

    @property
    def spread(self) -> float:
        """τ: how far weights lie from 0."""
        return _SPREAD * _REACH[self.columns.loss] / sqrt(len(self.columns.subject.features))

    def kappa(self, rows: float, steeper: Fraction = Fraction(1)) -> float:
        """κ: how far the risk's curvature lies above the λ at which signal and noise are level, at the first norm."""
        noise = self.noise * float(self.first_norm * self.usual_slope * steeper)
        return 1 + _CURVATURE[self.columns.loss] * rows * self.spread / noise

    def course(self, rows: float, centre: Ints, limits: Limits) -> Course:
        """The course for so many rows, within the limits."""
        steeper = self._steeper(self.kappa(rows), limits)
        kappa = self.kappa(rows, steeper)
        passes = _passes(kappa, limits)
        momentum = max(0.0, min(1 - 0.75 * passes / kappa, 1 - 6 / passes))
        curvature = _CURVATURE[self.columns.loss] * rows
        rate = min(1.0, kappa * (1 - momentum) / (0.75 * passes)) * min(1.0, (kappa - 1) / 3)
        rates = rate / (curvature + curvature / max(kappa - 1, 1e-9)) * self._own_rates(self.kappa(rows), centre)
        return Course(passes, momentum, rates, self.usual_slope * steeper, self._norm(kappa, centre, limits))

    def _steeper(self, kappa: float, limits: Limits) -> Fraction:
        """How many times as steep as usual slopes may be, by the κ of usual ones."""
        if self.columns.loss != "huber":
            return _LESS_STEEP if kappa < _NOISY_KAPPA else Fraction(1)
        return limits.slope / self.usual_slope if kappa > _STEADY_KAPPA else Fraction(1)

    def _norm(self, kappa: float, centre: Ints, limits: Limits) -> Fraction:
        """C: the first norm, and nearer to the longest centred row the less noise there is."""
        longer = float(self.first_norm) * max(1.0, kappa / _WIDER_KAPPA.get(self.columns.loss, _STEADY_KAPPA)) ** 0.25
        own = min(Fraction(int(longer * UNIT), UNIT), self.columns.longest_at(centre), limits.norm)
        return max(self.first_norm, own)

    def _own_rates(self, kappa: float, centre: Ints) -> Floats:
        """How much faster each column's weight moves: a number whose mean is near a bound varies little."""
        rates = np.ones(self.columns.width)
        if self.columns.loss != "huber" or kappa >= _STEADY_KAPPA:
            for span in self.columns.spans:
                if span.feature.is_number:
                    variance = 1 - (int(centre[span.first]) / UNIT) ** 2
                    rates[span.first] = np.clip(1 / (2 * (variance + 1 / max(kappa - 1, 1e-9))), _SLOWEST, _FASTEST)
        return np.tile(rates, self.columns.lines)


def _passes(kappa: float, limits: Limits) -> int:
    """T."""
    slow = FEW_PASSES * float(max(1.0, kappa / _FEW_KAPPA) ** 0.125)
    return max(1, min(ceil(3.5 * sqrt(kappa)), ceil(slow), limits.passes))


def default_norm(subject: Subject) -> Fraction:
    """C₀, in steps of a feature."""
    return Fraction(int(_NORM * sqrt(len(subject.features) + 1) * UNIT), UNIT)


def slope_bound(loss: str) -> Fraction:
    """The largest slope; for softmax the largest norm of all slopes."""
    return Fraction(92681, 65536) if loss == "softmax" else Fraction(1)
