"""Means, variances, covariances and correlations from noisy sums and a noisy count.

A mean m = Σ/n has its interval by Fieller.  A variance about the true mean m is linear in the sums,

    Σ(d − m)² − v·n = Σd² − 2m·Σd + (m² − v)·n = 0,

so the same sums with noise leave the noise X_dd − 2m·X_d + (m² − v)·Y, whose law is known but for m and v.  These are
held by intervals: m by its own, at a small share of 1 − level, for v = v̂ + (m − m̂)² barely feels it; v by what is known
of it so far.  Covariances alike.  Shares of 1 − level are public and add up to it (Bonferroni).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet import amounts
from discreet.answer.interval import (
    Range,
    correlation_range,
    moment_range,
    outward,
    products,
    quotient_range,
    sizes,
    squares,
)
from discreet.answer.noisy import Estimates, Noisy, certain_bounds
from discreet.answer.spread import joint_radius, pair_radius
from discreet.ndarrays import Floats
from discreet.query.parts import Part, RowSum
from discreet.query.recipe import CorrelationOf, CovarianceOf, MeanOf, VarianceOf

_FLOAT = 1e-14  # rounding of a few floats, relative to the largest


@dataclass(frozen=True)
class _Sum:
    """A noisy sum beside its noisy count."""

    part: RowSum
    total: Noisy
    count: Noisy
    half: float  # of the item's public range

    @property
    def n(self) -> Floats:
        return _floats(self.count)

    @property
    def step(self) -> float:
        return float(self.part.lattice.step)

    @property
    def rounding(self) -> float:
        """The most by which one row was rounded, in the item's own measure."""
        return float(self.total.rounding) * self.step

    @property
    def estimate(self) -> Floats:
        """Σ/n; 0, the middle, where the noisy count is not positive."""
        n = self.n
        mean: Floats = np.where(n > 0, _floats(self.total) / np.where(n > 0, n, 1.0), 0.0) * self.step
        return mean

    def mean(self, missed: Fraction) -> Range:
        """The range of Σ/n, but for that probability."""
        top, lattice = _floats(self.total), self.part.lattice
        radius = pair_radius(self.total.noise, self.count.noise, 1 - missed)
        steps = quotient_range(top, self.n, radius, np.full(top.shape, float(lattice.largest)))
        clipped = steps.clipped(float(lattice.low), float(lattice.high))
        return clipped.wider(float(self.total.rounding)).scaled(self.step)


def mean_of(recipe: MeanOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """middle + Σd/n, cut to the bounds; the whole range where the noisy count is not positive."""
    middle, half = float(recipe.centre.middle), float(recipe.centre.half)
    total = _Sum(recipe.total, noisy[recipe.total], noisy[recipe.count], half)
    d, slack = total.mean(1 - level), 1e-15 * (abs(middle) + half)
    lower, upper = certain_bounds(recipe)
    ends = Range(middle + d.low - slack, middle + d.high + slack)
    ends = ends.clipped(amounts.float_down(lower), amounts.float_up(upper))
    return _estimates(middle + np.clip(total.estimate, -half, half), ends)


def variance_of(recipe: VarianceOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Shares of 1 − level: the mean ⅛, the count ¹⁄₁₆ for n/(n − less), the variance the rest."""
    count, half, sixteenth = noisy[recipe.count], float(recipe.centre.half), (1 - level) / 16
    total = _Sum(recipe.total, noisy[recipe.total], count, half)
    square = _Sum(recipe.squares, noisy[recipe.squares], count, half)
    mean, n = total.mean(2 * sixteenth), total.n
    ends = _times(_variance(total, square, mean, 13 * sixteenth), count, recipe.less, sixteenth)
    value = _variance_estimate(total, square) * _less(n, recipe.less)
    if recipe.power == 1:
        return _estimates(_or_middle(value, ends, n, recipe.less), ends)
    roots = outward(np.sqrt(ends.low), np.sqrt(ends.high))
    return _estimates(_or_middle(np.sqrt(np.maximum(value, 0.0)), roots, n, recipe.less), roots)


def covariance_of(recipe: CovarianceOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Shares of 1 − level: each mean and the count ¹⁄₁₆, the covariance the rest."""
    count, sixteenth = noisy[recipe.count], (1 - level) / 16
    x, y, xy = _three(recipe, noisy)
    ends = _covariance((x, y, xy), (x.mean(sixteenth), y.mean(sixteenth)), 13 * sixteenth)
    ends, n = _times(ends, count, recipe.less, sixteenth), x.n
    value = (xy.estimate - x.estimate * y.estimate) * _less(n, recipe.less)
    return _estimates(_or_middle(value, ends, n, recipe.less), ends)


def correlation_of(recipe: CorrelationOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Shares of 1 − level: each mean ¹⁄₃₂, the covariance and both variances ⁵⁄₁₆."""
    count, missed = noisy[recipe.both.count], 1 - level
    x, y, xy = _three(recipe.both, noisy)
    xx = _Sum(recipe.x_squares, noisy[recipe.x_squares], count, x.half)
    yy = _Sum(recipe.y_squares, noisy[recipe.y_squares], count, y.half)
    means, share = (x.mean(missed / 32), y.mean(missed / 32)), missed * 5 / 16
    variances = _variance(x, xx, means[0], share), _variance(y, yy, means[1], share)
    ends = correlation_range(_covariance((x, y, xy), means, share), *variances)
    vx, vy = _variance_estimate(x, xx), _variance_estimate(y, yy)
    positive = (vx > 0) & (vy > 0)
    root = np.sqrt(np.where(positive, vx, 1.0)) * np.sqrt(np.where(positive, vy, 1.0))
    value = np.where(positive, (xy.estimate - x.estimate * y.estimate) / root, 0.0)
    return _estimates(_or_middle(value, ends, x.n, 1), ends)


# --- second moments --------------------------------------------------------------------------------------------------


def _variance(total: _Sum, square: _Sum, mean: Range, missed: Fraction) -> Range:
    """Σ(d − m)²/n, in [0, half²]; the whole of it where the noisy count is not positive."""
    half, n, size = total.half, total.n, sizes(mean)
    centre = half**2 / 2  # what `squares` leaves out of each d²
    radius = joint_radius([square.total.noise, total.count.noise, total.total.noise], 1 - missed)

    def allowance(v: Range) -> Floats:
        by_count = np.maximum(np.abs(centre + size[0] ** 2 - v.high), np.abs(centre + size[1] ** 2 - v.low))
        return radius([np.full(n.shape, square.step), by_count, 2 * size[1] * total.step]) / np.maximum(n, 1.0)

    off = square.rounding + total.rounding * (2 * size[1] + total.rounding) + _FLOAT * half**2
    start = Range(-off, half**2 - size[0] ** 2 + off)
    bend = squares(Range(mean.low - total.estimate, mean.high - total.estimate))
    ends = moment_range(start, _variance_estimate(total, square), bend, allowance).wider(off)
    return _in_public_range(ends, n, 0.0, half**2)


def _covariance(sums: tuple[_Sum, _Sum, _Sum], means: tuple[Range, Range], missed: Fraction) -> Range:
    """Σ(d − m)(e − k)/n, in ± the product of both halves."""
    x, y, xy = sums
    n, far_x, far_y = x.n, sizes(means[0])[1], sizes(means[1])[1]
    radius = joint_radius([noisy_sum.total.noise for noisy_sum in (xy, x, y)] + [x.count.noise], 1 - missed)
    product = products(*means)

    def allowance(v: Range) -> Floats:
        by_count = np.maximum(np.abs(product.low - v.high), np.abs(product.high - v.low))
        return radius([np.full(n.shape, xy.step), far_y * x.step, far_x * y.step, by_count]) / np.maximum(n, 1.0)

    largest = x.half * y.half
    off = xy.rounding + x.rounding * far_y + y.rounding * far_x + x.rounding * y.rounding + _FLOAT * largest
    x_bend, y_bend = (
        Range(mean.low - noisy_sum.estimate, mean.high - noisy_sum.estimate)
        for mean, noisy_sum in zip(means, (x, y), strict=True)
    )
    start = Range(-largest - off, largest + off)
    estimate = xy.estimate - x.estimate * y.estimate
    ends = moment_range(start, estimate, products(x_bend, y_bend), allowance).wider(off)
    return _in_public_range(ends, n, -largest, largest)


def _in_public_range(ends: Range, n: Floats, lower: float, upper: float) -> Range:
    """The ends cut to the public range; all of that range where the noisy count is not positive."""
    clipped = ends.clipped(lower, upper)
    return Range(np.where(n > 0, clipped.low, lower), np.where(n > 0, clipped.high, upper))


def _variance_estimate(total: _Sum, square: _Sum) -> Floats:
    return square.estimate + total.half**2 / 2 - total.estimate**2


def _three(recipe: CovarianceOf, noisy: Mapping[Part, Noisy]) -> tuple[_Sum, _Sum, _Sum]:
    count, x, y = noisy[recipe.count], float(recipe.x.half), float(recipe.y.half)
    return (
        _Sum(recipe.x_total, noisy[recipe.x_total], count, x),
        _Sum(recipe.y_total, noisy[recipe.y_total], count, y),
        _Sum(recipe.products, noisy[recipe.products], count, x * y),
    )


def _times(ends: Range, count: Noisy, less: int, missed: Fraction) -> Range:
    """Times n/(n − less) for every n ≥ 1 + less in the count's interval."""
    if less == 0:
        return ends
    n, r = _floats(count), float(count.noise.radius(1 - missed))
    largest, smallest = _less(np.maximum(n - r, 1.0 + less), less), _less(np.maximum(n + r, 1.0 + less), less)
    low = np.where(ends.low > 0, ends.low * smallest, ends.low * largest)
    high = np.where(ends.high > 0, ends.high * largest, ends.high * smallest)
    return outward(low, high)


# --- small parts -----------------------------------------------------------------------------------------------------


def _floats(noisy: Noisy) -> Floats:
    return np.asarray(noisy.values, dtype=np.int64).astype(np.float64)


def _less(n: Floats, less: int) -> Floats:
    """n/(n − less), 1 where it has no meaning."""
    return np.where(n > less, n / np.where(n > less, n - less, 1.0), 1.0)


def _or_middle(value: Floats, ends: Range, n: Floats, less: int) -> Floats:
    """The value where the noisy count is above `less`, else the middle of the range."""
    return np.where(n > less, value, (ends.low + ends.high) / 2)


def _estimates(value: Floats, ends: Range) -> Estimates:
    """Estimates in Python floats, each value clipped into its interval."""
    inside: Floats = np.clip(value, ends.low, ends.high)
    return Estimates(inside.tolist(), ends.low.tolist(), ends.high.tolist())
