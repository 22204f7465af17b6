"""Unbiased numbers for every cell and every place's total, from all that was measured, and how exact each of them is.

    measured        a cell is what was measured for it (or g_s − g_{s+1}); a total is the sum of the view whose summed
                    noise is least
    least squares   every number from all views of all places at once (Gaussian noise only)

Least squares over cells and places together is cells first, then places, where the noise of a view on a level has
variance s_l·r_a.  The numbers of one column then have variances u·Σ r·w², u of the place, w the weights of the views
(docs/proofs/attributes.md, leastsquares.md).  With such a variance u for the whole estimate Σ a·X, and X normal noise
of σ rounded to whole numbers,

    P[|Σ a·X| ≥ z√u + c/2σ] ≤ 2·P[N > z]·exp(h²/24σ²) + n·Σ_m exp(−π²m²σ²)/(2√π·σ),

N standard normal, h its hazard at z, c the largest |a|·σ, n how many numbers were measured, σ the least of them
(docs/proofs/unbiased.md).
All of it follows from public facts; nothing here sees a released number before `cells` and `totals` do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from discreet import exact, real
from discreet.answer.spread import normal_radius, sum_radius
from discreet.errors import bad
from discreet.mechanism.additive import Law
from discreet.noise.gaussian import RoundedGaussian
from discreet.release.attributes import matrix, views
from discreet.release.leastsquares import Bools, consistent, require_size, shares, variances
from discreet.release.measure import Form, Marginal
from discreet.release.tree import Floats, Ints, Tree, summed

Laws = Sequence[Sequence[Law]]  # by level of the tree, then by marginal
MEASURED, LEAST = "measured", "least squares"

_ALIKE = Fraction(1, 10**9)  # how far the ratio of two views' variances may differ between levels
_MARGIN = 1 + 1e-8  # of a standard deviation: above that and the rounding of every float in it
_BIASED = 1e-10  # what the weights of the views may miss unbiasedness by
_MOST_RATIO = 1e10  # of two views' variances, beyond which floats do not combine them
_LEAST_SIGMA = 1  # below, rounded normal noise is too coarse for what is proven here
_LEAST_MISSED = Fraction(1, 10**200)
_NEVER = Fraction(1, 10**300)  # the chance of noise so far out that floats err by more than is allowed for
_FAR = 128  # standard deviations that stand for "so far out"
_FINE = 2.0**20  # parts of a unit that estimates are rounded to first, so that a half is a half on every machine


@dataclass(frozen=True, eq=False)
class Measured:
    """What is measured: a row for each place, the marginals side by side, the last of them all cells."""

    tree: Tree
    form: Form
    marginals: tuple[Marginal, ...]

    @property
    def columns(self) -> tuple[slice, ...]:
        """Where each marginal's numbers lie in a row."""
        return tuple(slice(*pair) for pair in pairwise(np.cumsum([0, *(one.size for one in self.marginals)]).tolist()))

    @property
    def numbers(self) -> int:
        """How many of a place."""
        return sum(one.size for one in self.marginals)

    def cells(self, noisy: Ints) -> Ints:
        """The last marginal, or the differences of its neighbours where sizes are measured from the top."""
        last = noisy[:, self.columns[-1]]
        if self.form is Form.PLAIN:
            return last
        return np.concatenate([last[:, :-1] - last[:, 1:], last[:, -1:]], axis=1)

    def totals(self, noisy: Ints, best: Sequence[int]) -> Ints:
        """The sums of the marginal that is best on each level; g_1 where sizes are measured from the top."""
        if self.form is Form.FROM_TOP:
            return noisy[:, self.columns[-1].start].copy()
        rows = map(self.tree.places, range(self.tree.depth))
        sums = [noisy[here, self.columns[view]].sum(axis=1) for here, view in zip(rows, best, strict=True)]
        return np.concatenate(sums)

    def require(self, noisy: Ints) -> None:
        """Refuses numbers of another shape, or so large that they could not be added up."""
        shape = (len(self.tree), self.numbers)
        if noisy.shape != shape or noisy.dtype != np.int64:
            rule = f"must be {shape[0]:,} rows of {shape[1]:,} whole numbers (int64)"
            raise bad("noisy", rule, (noisy.dtype.name, noisy.shape), "Give what was measured.")
        require_size("noisy", max(int(noisy.max()), -int(noisy.min())), 4)
        leaves = self.cells(noisy[self.tree.leaves])
        require_size("noisy", int(np.abs(leaves).sum(dtype=np.float64)), 4)


@dataclass(frozen=True, eq=False)
class Combined:
    """Least squares: `weights` (numbers, cells) of the views, None where there is one; `precision` of each place.

    A whole table t that adds up and lies near, that of the leaves' cells, is taken off first and put back last: sums of
    people stay whole numbers, and floats see noise only.
    """

    measured: Measured
    weights: Floats | None
    precision: Floats

    def cells(self, noisy: Ints) -> Ints:
        near = self._near(noisy)
        beyond = self._beyond(noisy, near)
        return near + self._swept(beyond if self.weights is None else beyond @ self.weights)

    def totals(self, noisy: Ints) -> Ints:
        near = self._near(noisy)
        sums: Ints = near.sum(axis=1)
        if self.measured.form is Form.FROM_TOP:
            beyond = (noisy[:, self.measured.columns[-1].start] - sums).astype(np.float64)
        else:
            beyond = self._beyond(noisy, near)
            beyond = beyond.sum(axis=1) if self.weights is None else beyond @ self.weights.sum(axis=1)
        return sums + self._swept(beyond[:, None])[:, 0]

    def _near(self, noisy: Ints) -> Ints:
        tree = self.measured.tree
        return summed(tree, self.measured.cells(noisy[tree.leaves]))

    def _beyond(self, noisy: Ints, near: Ints) -> Floats:
        """What was measured beyond t: by cell where there is one view, else by number."""
        if self.weights is None:
            return (self.measured.cells(noisy) - near).astype(np.float64)
        beyond = np.empty(noisy.shape)
        for view, columns in zip(self.measured.marginals, self.measured.columns, strict=True):
            beyond[:, columns] = noisy[:, columns] - view.of(near)
        return beyond

    def _swept(self, rest: Floats) -> Ints:
        fits = consistent(shares(self.measured.tree, self.precision), rest)
        return np.rint(np.rint(fits * _FINE) / _FINE).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Unbiased:
    """How the cells and totals of all places are estimated, and ± of each number by itself, known beforehand.

    Radii are held by kind of place, and `kind` is that of each place.  Where there is a combination, `kept` says which
    numbers are none the less taken as measured, because ± is smaller so.
    """

    measured: Measured
    best: tuple[int, ...]  # by level, which marginal's sum is a total as measured
    combined: Combined | None
    kind: Ints  # (places,)
    spread: Ints  # (kinds, cells)
    total_spread: Ints  # (kinds,)
    kept: Bools  # (kinds, cells)
    total_kept: Bools  # (kinds,)

    @property
    def way(self) -> str:
        """As measured, or by least squares."""
        return MEASURED if self.combined is None else LEAST

    @cached_property
    def radius(self) -> Ints:
        """± of every cell (places, cells)."""
        return np.asarray(self.spread[self.kind], dtype=np.int64)

    @cached_property
    def total_radius(self) -> Ints:
        """± of every place's total (places,)."""
        return np.asarray(self.total_spread[self.kind], dtype=np.int64)

    def cells(self, noisy: Ints) -> Ints:
        """The estimate of every cell (places, cells), from a row of measured numbers for each place."""
        self.measured.require(noisy)
        if self.combined is None:
            return self.measured.cells(noisy)
        return np.where(self.kept[self.kind], self.measured.cells(noisy), self.combined.cells(noisy))

    def totals(self, noisy: Ints) -> Ints:
        """The estimate of every place's total (places,), which is not the sum of its rounded cells."""
        self.measured.require(noisy)
        if self.combined is None:
            return self.measured.totals(noisy, self.best)
        return np.where(self.total_kept[self.kind], self.measured.totals(noisy, self.best), self.combined.totals(noisy))


def unbiased(tree: Tree, form: Form, marginals: Sequence[Marginal], laws: Laws, level: Any) -> Unbiased:
    """Least squares where the sum of its ± over all cells is smaller, else what was measured; no ± exceeds that of the
    number as measured.

    >>> from discreet.release.measure import whole
    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> found = unbiased(tree, Form.PLAIN, [whole(["sex"], 2)], [[RoundedGaussian(Fraction(20))]] * 2, "0.95")
    >>> found.way, found.radius.tolist()   # as measured: ± 39
    ('least squares', [[32, 32], [32, 32], [32, 32]])
    >>> found.cells(np.array([[90, 30], [20, 10], [40, 20]])).tolist()
    [[80, 30], [30, 10], [50, 20]]
    """
    near = exact.inner_probability(level, "level")
    measured = Measured(tree, Form(form), tuple(marginals))
    if len(laws) != tree.depth or any(len(each) != len(measured.marginals) for each in laws):
        rule = f"must be {len(measured.marginals)} for each of the {tree.depth} levels"
        raise bad("laws", rule, [len(each) for each in laws], "Give the noise of every marginal on every level.")
    straight, combined = as_measured(measured, laws, near), least(measured, laws, near)
    return straight if combined is None or _all(combined) >= _all(straight) else _narrower(combined, straight)


def _all(found: Unbiased) -> int:
    """Σ of the ± of all cells."""
    many = np.bincount(found.kind, minlength=len(found.spread))
    return int(many @ found.spread.sum(axis=1))


def _narrower(combined: Unbiased, straight: Unbiased) -> Unbiased:
    """The combination, but for the numbers whose ± is smaller as measured."""
    level = np.zeros(len(combined.spread), dtype=np.int64)
    level[combined.kind] = straight.kind
    spread, total_spread = straight.spread[level], straight.total_spread[level]
    return replace(
        combined,
        best=straight.best,
        spread=np.minimum(spread, combined.spread),
        total_spread=np.minimum(total_spread, combined.total_spread),
        kept=spread < combined.spread,
        total_kept=total_spread < combined.total_spread,
    )


# --- as measured -----------------------------------------------------------------------------------------------------


def as_measured(measured: Measured, laws: Laws, level: Fraction) -> Unbiased:
    """Cells from the last marginal, totals from the one whose sum is nearest; places of one level are one kind."""
    alone = [each[-1].radius(level) for each in laws]
    cells = len(measured.marginals[-1].place)
    if measured.form is Form.FROM_TOP:  # n_s = g_s − g_{s+1}, and g_1 is the total
        spread = [[sum_radius(each[-1], 2, level)] * (cells - 1) + [one] for each, one in zip(laws, alone, strict=True)]
        best, totals = [len(measured.marginals) - 1] * len(laws), alone
    else:
        spread = [[one] * cells for one in alone]
        sums = [
            [sum_radius(law, view.size, level) for law, view in zip(each, measured.marginals, strict=True)]
            for each in laws
        ]
        best, totals = [int(np.argmin(each)) for each in sums], [min(each) for each in sums]
    kept = np.ones((len(laws), cells), dtype=np.bool_)
    radii, total_radii = (np.array(each, dtype=np.int64) for each in (spread, totals))
    return Unbiased(measured, tuple(best), None, measured.tree.level, radii, total_radii, kept, kept[:, 0])


# --- least squares ---------------------------------------------------------------------------------------------------


def least(measured: Measured, laws: Laws, level: Fraction) -> Unbiased | None:
    """Generalised least squares over views and places; None where its ± is not proven: noise other than Gaussian or of
    σ below 1, views whose variances do not keep one ratio on all levels, or a level too near 1."""
    sigmas = _sigmas(laws)
    if sigmas is None or (measured.form is Form.FROM_TOP and len(measured.marginals) > 1):
        return None
    smallest, widest = min(map(min, sigmas)), float(max(map(max, sigmas)))
    z, found = reach(smallest, len(measured.tree) * measured.numbers, level), spreads(measured, sigmas)
    if z is None or found is None:
        return None

    def radius(columns: Columns, combining: Floats | None) -> Ints:
        off = float_slack(measured, combining, widest) - 0.5  # an estimate is rounded: it must be off by q + ½ to miss
        far = (z * np.sqrt(columns.variance) + columns.largest / (2 * float(smallest))) * _MARGIN
        return np.maximum(0, np.ceil(np.outer(np.sqrt(found.variance), far) + off)).astype(np.int64)

    weights = found.combined.weights
    cells = radius(found.cells, weights)
    totals = radius(found.total, None if weights is None else weights.sum(axis=1, keepdims=True))[:, 0]
    kept, last = np.zeros(cells.shape, dtype=np.bool_), (len(measured.marginals) - 1,) * measured.tree.depth
    return Unbiased(measured, last, found.combined, found.kind, cells, totals, kept, kept[:, 0])


class Columns(NamedTuple):
    """Of each column: Σ r·w² and the largest √r·|w|, r the variance of a number and w its weight."""

    variance: Floats
    largest: Floats


class Spreads(NamedTuple):
    """The combination, and `variance` of each kind of place: times that of a column it is that of an estimate."""

    combined: Combined
    kind: Ints
    variance: Floats
    cells: Columns
    total: Columns


def spreads(measured: Measured, sigmas: Sequence[Sequence[Fraction]]) -> Spreads | None:
    """Of normal noise with σ by level and marginal, its ratios the same on all levels; None where floats fail."""
    tree, ones = measured.tree, np.ones(len(measured.marginals[-1].place))
    weights, by_cell, total = None, Columns(ones, ones), Columns(ones.sum(keepdims=True), ones[:1])
    if measured.form is Form.FROM_TOP:
        by_cell, total = Columns(np.append(2 * ones[1:], 1.0), ones), Columns(ones[:1], ones[:1])
    elif len(measured.marginals) > 1:
        ratios = np.array([float((one / sigmas[0][-1]) ** 2) for one in sigmas[0]])
        weights = _weights(measured.marginals, ratios)
        if weights is None:
            return None
        root = np.sqrt(np.repeat(ratios, [one.size for one in measured.marginals]))[:, None]
        by_cell, total = _columns(root * weights), _columns(root * weights.sum(axis=1, keepdims=True))
    precision = np.array([float(1 / each[-1] ** 2) for each in sigmas])[tree.level]
    variance, kind = _kinds(tree, variances(shares(tree, precision))[:, 0])
    return Spreads(Combined(measured, weights, precision), kind, variance, by_cell, total)


def _columns(deviations: Floats) -> Columns:
    return Columns(np.square(deviations).sum(axis=0), np.abs(deviations).max(axis=0))


def _kinds(tree: Tree, variance: Floats) -> tuple[Floats, Ints]:
    """The different variances of each level, one level after the other, and which of them each place has."""
    found: list[Floats] = []
    kind = np.empty(len(tree), dtype=np.int64)
    for level in range(tree.depth):
        values, which = np.unique(variance[tree.places(level)], return_inverse=True)
        kind[tree.places(level)] = which.ravel() + sum(map(len, found))
        found.append(values)
    return np.concatenate(found), kind


def reach(sigma: Fraction, numbers: int, level: Fraction) -> float | None:
    """z with 2·P[N > z]·exp(h²/24σ²) + numbers·Σ exp(−π²m²σ²)/(2√π·σ) ≤ 1 − level, certified; None if there is none
    below that of (1 − level)/2."""
    missed = 1 - level
    if sigma < _LEAST_SIGMA or missed < _LEAST_MISSED:
        return None
    most = Fraction(normal_radius(missed / 2)) + Fraction(1, 10**6)

    def left() -> arb:
        wide, pi, z = real.ball(sigma), arb.pi(), real.ball(most)
        first = (-((pi * wide) ** 2)).exp()
        aliased = numbers * first / (1 - first**3) / (2 * pi.sqrt() * wide)  # the m-th is below first^(3m − 2)
        hazard = (z + (z * z + 4).sqrt()) / 2
        return (real.ball(missed - _NEVER) - aliased) * (-((hazard / wide) ** 2) / 24).exp()

    rest = real.lower(left)
    return normal_radius(rest) if rest >= missed / 2 else None


def _sigmas(laws: Laws) -> list[list[Fraction]] | None:
    """σ by level and marginal, if all are Gaussian and the views' variances are as s_l·r_a."""
    found = [[law.sigma for law in each if isinstance(law, RoundedGaussian)] for each in laws]
    if any(len(each) != len(given) for each, given in zip(found, laws, strict=True)):
        return None
    for each in found[1:]:
        for one, first in zip(each, found[0], strict=True):
            if abs((one * found[0][-1] / (each[-1] * first)) ** 2 - 1) > _ALIKE:
                return None
    return found


def _weights(marginals: Sequence[Marginal], ratios: Floats) -> Floats | None:
    """Of every measured number in every cell; None where floats cannot tell them well enough."""
    if ratios.max() > _MOST_RATIO * ratios.min():
        return None
    found = views(marginals, (1 / ratios).tolist()).weights
    return found if float(_bias(marginals, found).max()) <= _BIASED else None


def _bias(marginals: Sequence[Marginal], combining: Floats) -> Floats:
    """By column of a combination how far it is from adding every cell up as often as it should, over all cells."""
    cells = len(marginals[-1].place)
    wanted = np.eye(cells) if combining.shape[1] == cells else np.ones((cells, 1))
    found = np.concatenate([matrix(one) for one in marginals]).T @ combining
    return np.asarray(np.abs(found - wanted).sum(axis=0), dtype=np.float64)


def float_slack(measured: Measured, combining: Floats | None, widest: float) -> float:
    """More than floats can err by in an estimate, and the step that it is rounded to first.

    2⁻⁵³ for each operation of every place, times 128 standard deviations of a sum of all its leaves' cells.
    """
    tree, cells = measured.tree, len(measured.marginals[-1].place)
    leaves = summed(tree, np.ones(len(tree.leaves)))
    largest = _FAR * widest * np.sqrt(cells * (1 + leaves))
    operations, biased = np.diff(tree.child) + 16.0, 0.0
    if combining is not None:
        operations += len(combining) * float(np.abs(combining).sum(axis=0).max())
        biased = float(_bias(measured.marginals, combining).max()) * float(largest[0])
    return 2.0**-53 * float(operations @ largest) + biased + 1 / _FINE
