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
from discreet.answer.noisy import Estimates, Noisy, surely
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
    def at(self) -> Floats:
        """Σ/n; 0, the middle, where the noisy count is not positive."""
        n = self.n
        found: Floats = np.where(n > 0, _floats(self.total) / np.where(n > 0, n, 1.0), 0.0) * self.step
        return found

    def mean(self, missed: Fraction) -> Range:
        """The range of Σ/n, but for that probability."""
        top, lattice = _floats(self.total), self.part.lattice
        radius = pair_radius(self.total.noise, self.count.noise, 1 - missed)
        steps = quotient_range(top, self.n, radius, np.full(top.shape, float(lattice.largest)))
        cut = steps.cut(float(lattice.low), float(lattice.high))
        return cut.wider(float(self.total.rounding)).scaled(self.step)


def mean_of(recipe: MeanOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """middle + Σd/n, cut to the bounds; the whole range where the noisy count is not positive."""
    middle, half = float(recipe.centre.middle), float(recipe.centre.half)
    total = _Sum(recipe.total, noisy[recipe.total], noisy[recipe.count], half)
    d, slack = total.mean(1 - level), 1e-15 * (abs(middle) + half)
    least, most = surely(recipe)
    ends = Range(middle + d.low - slack, middle + d.high + slack).cut(amounts.float_down(least), amounts.float_up(most))
    return _listed(middle + np.clip(total.at, -half, half), ends)


def variance_of(recipe: VarianceOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Shares of 1 − level: the mean ⅛, the count ¹⁄₁₆ for n/(n − less), the variance the rest."""
    count, half, small = noisy[recipe.count], float(recipe.centre.half), (1 - level) / 16
    total = _Sum(recipe.total, noisy[recipe.total], count, half)
    square = _Sum(recipe.squares, noisy[recipe.squares], count, half)
    mean = total.mean(2 * small)
    n, at = total.n, _variance_at(total, square)
    ends = _times(_variance(total, square, mean, 13 * small), count, recipe.less, small)
    at = at * _less(n, recipe.less)
    if recipe.power == 1:
        return _listed(_known(at, ends, n, recipe.less), ends)
    roots = outward(np.sqrt(ends.low), np.sqrt(ends.high))
    return _listed(_known(np.sqrt(np.maximum(at, 0.0)), roots, n, recipe.less), roots)


def covariance_of(recipe: CovarianceOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Shares of 1 − level: each mean and the count ¹⁄₁₆, the covariance the rest."""
    count, small = noisy[recipe.count], (1 - level) / 16
    x, y, xy = _three(recipe, noisy)
    ends = _covariance((x, y, xy), (x.mean(small), y.mean(small)), 13 * small)
    ends, n = _times(ends, count, recipe.less, small), x.n
    at = (xy.at - x.at * y.at) * _less(n, recipe.less)
    return _listed(_known(at, ends, n, recipe.less), ends)


def correlation_of(recipe: CorrelationOf, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Shares of 1 − level: each mean ¹⁄₃₂, the covariance and both variances ⁵⁄₁₆."""
    count, missed = noisy[recipe.both.count], 1 - level
    x, y, xy = _three(recipe.both, noisy)
    xx = _Sum(recipe.x_squares, noisy[recipe.x_squares], count, x.half)
    yy = _Sum(recipe.y_squares, noisy[recipe.y_squares], count, y.half)
    means, each = (x.mean(missed / 32), y.mean(missed / 32)), missed * 5 / 16
    variances = _variance(x, xx, means[0], each), _variance(y, yy, means[1], each)
    ends = correlation_range(_covariance((x, y, xy), means, each), *variances)
    vx, vy = _variance_at(x, xx), _variance_at(y, yy)
    known = (vx > 0) & (vy > 0)
    root = np.sqrt(np.where(known, vx, 1.0)) * np.sqrt(np.where(known, vy, 1.0))
    return _listed(_known(np.where(known, (xy.at - x.at * y.at) / root, 0.0), ends, x.n, 1), ends)


# --- second moments --------------------------------------------------------------------------------------------------


def _variance(total: _Sum, square: _Sum, mean: Range, missed: Fraction) -> Range:
    """Σ(d − m)²/n, in [0, half²]; the whole of it where the noisy count is not positive."""
    half, n, size = total.half, total.n, sizes(mean)
    centre = half**2 / 2  # what `squares` leaves out of each d²
    radius = joint_radius([square.total.noise, total.count.noise, total.total.noise], 1 - missed)

    def allowed(v: Range) -> Floats:
        by_count = np.maximum(np.abs(centre + size[0] ** 2 - v.high), np.abs(centre + size[1] ** 2 - v.low))
        return radius([np.full(n.shape, square.step), by_count, 2 * size[1] * total.step]) / np.maximum(n, 1.0)

    off = square.rounding + total.rounding * (2 * size[1] + total.rounding) + _FLOAT * half**2
    start = Range(-off, half**2 - size[0] ** 2 + off)
    bend = squares(Range(mean.low - total.at, mean.high - total.at))
    held = moment_range(start, _variance_at(total, square), bend, allowed).wider(off)
    return _whole(held, n, 0.0, half**2)


def _covariance(sums: tuple[_Sum, _Sum, _Sum], means: tuple[Range, Range], missed: Fraction) -> Range:
    """Σ(d − m)(e − k)/n, in ± the product of both halves."""
    x, y, xy = sums
    n, far_x, far_y = x.n, sizes(means[0])[1], sizes(means[1])[1]
    radius = joint_radius([one.total.noise for one in (xy, x, y)] + [x.count.noise], 1 - missed)
    both = products(*means)

    def allowed(v: Range) -> Floats:
        by_count = np.maximum(np.abs(both.low - v.high), np.abs(both.high - v.low))
        return radius([np.full(n.shape, xy.step), far_y * x.step, far_x * y.step, by_count]) / np.maximum(n, 1.0)

    most = x.half * y.half
    off = xy.rounding + x.rounding * far_y + y.rounding * far_x + x.rounding * y.rounding + _FLOAT * most
    bend = products(*(Range(mean.low - one.at, mean.high - one.at) for mean, one in zip(means, (x, y), strict=True)))
    start = Range(-most - off, most + off)
    return _whole(moment_range(start, xy.at - x.at * y.at, bend, allowed).wider(off), n, -most, most)


def _whole(held: Range, n: Floats, least: float, most: float) -> Range:
    """Cut to the public range, and all of it where the noisy count is not positive."""
    cut = held.cut(least, most)
    return Range(np.where(n > 0, cut.low, least), np.where(n > 0, cut.high, most))


def _variance_at(total: _Sum, square: _Sum) -> Floats:
    return square.at + total.half**2 / 2 - total.at**2


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
    large, small = _less(np.maximum(n - r, 1.0 + less), less), _less(np.maximum(n + r, 1.0 + less), less)
    low = np.where(ends.low > 0, ends.low * small, ends.low * large)
    high = np.where(ends.high > 0, ends.high * large, ends.high * small)
    return outward(low, high)


# --- small parts -----------------------------------------------------------------------------------------------------


def _floats(noisy: Noisy) -> Floats:
    return np.asarray(noisy.values, dtype=np.int64).astype(np.float64)


def _less(n: Floats, less: int) -> Floats:
    """n/(n − less), 1 where it has no meaning."""
    return np.where(n > less, n / np.where(n > less, n - less, 1.0), 1.0)


def _known(at: Floats, ends: Range, n: Floats, less: int) -> Floats:
    """The value where the count has one, else the middle of the range."""
    return np.where(n > less, at, (ends.low + ends.high) / 2)


def _listed(value: Floats, ends: Range) -> Estimates:
    """As Python floats, the value inside its interval."""
    inside: Floats = np.clip(value, ends.low, ends.high)
    return Estimates(inside.tolist(), ends.low.tolist(), ends.high.tolist())
