"""Least squares over all views of all places under normal noise: the estimates, their variances and a proven ±.

Where the noise of a view on a level has variance s_l·r_a, least squares over cells and places together is that over
cells, then that over places.  The numbers of one column then have variances u·Σ r·w², u of the place, w the weights of
the views (docs/proofs/release/attributes.md, leastsquares.md).  With such a variance u for the whole estimate
Σ a·X, and X normal noise of σ rounded to whole numbers,

    P[|Σ a·X| ≥ z√u + c/2σ] ≤ 2·P[N > z]·exp(h²/24σ²) + n·Σ_m exp(−π²m²σ²)/(2√π·σ),

N standard normal, h its hazard at z, c the largest |a|·σ, n how many numbers were measured, σ the least of them
(docs/proofs/release/unbiased.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb

from discreet import real
from discreet.answer.spread import normal_radius
from discreet.errors import bad
from discreet.mechanism.additive import Law
from discreet.ndarrays import Floats, Ints
from discreet.noise.gaussian import RoundedGaussian
from discreet.release.attributes import matrix, views
from discreet.release.leastsquares import consistent, require_size, shares, variances
from discreet.release.measure import Form, Marginal, columns
from discreet.release.tree import Tree, tree_sums

Laws = Sequence[Sequence[Law]]  # by level of the tree, then by marginal

_ALIKE = Fraction(1, 10**9)  # how far the ratio of two views' variances may differ between levels
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
        return columns(self.marginals)

    @property
    def numbers(self) -> int:
        """How many numbers are measured in a place."""
        return sum(marginal.size for marginal in self.marginals)

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
        """Refuse numbers of another shape, or so large that their sums could overflow."""
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

    A whole table t that adds up, the sums of the leaves' cells, is subtracted first and added last: counts stay whole
    numbers, and floats hold only noise.
    """

    measured: Measured
    weights: Floats | None
    precision: Floats

    def cells(self, noisy: Ints) -> Ints:
        leaf_sums = self._near(noisy)
        beyond = self._beyond(noisy, leaf_sums)
        return leaf_sums + self._swept(beyond if self.weights is None else beyond @ self.weights)

    def totals(self, noisy: Ints) -> Ints:
        leaf_sums = self._near(noisy)
        sums: Ints = leaf_sums.sum(axis=1)
        if self.measured.form is Form.FROM_TOP:
            beyond = (noisy[:, self.measured.columns[-1].start] - sums).astype(np.float64)
        else:
            beyond = self._beyond(noisy, leaf_sums)
            beyond = beyond.sum(axis=1) if self.weights is None else beyond @ self.weights.sum(axis=1)
        return sums + self._swept(beyond[:, None])[:, 0]

    def _near(self, noisy: Ints) -> Ints:
        tree = self.measured.tree
        return tree_sums(tree, self.measured.cells(noisy[tree.leaves]))

    def _beyond(self, noisy: Ints, leaf_sums: Ints) -> Floats:
        """The measured numbers minus those of t: by cell where there is one view, else by number."""
        if self.weights is None:
            return (self.measured.cells(noisy) - leaf_sums).astype(np.float64)
        beyond = np.empty(noisy.shape)
        for view, numbers in zip(self.measured.marginals, self.measured.columns, strict=True):
            beyond[:, numbers] = noisy[:, numbers] - view.of(leaf_sums)
        return beyond

    def _swept(self, table: Floats) -> Ints:
        fits = consistent(shares(self.measured.tree, self.precision), table)
        return np.rint(np.rint(fits * _FINE) / _FINE).astype(np.int64)


class Columns(NamedTuple):
    """Of each column: Σ r·w² and the largest √r·|w|, r the variance of a number and w its weight."""

    variance: Floats
    largest: Floats


class Spreads(NamedTuple):
    """The combination, and the `variance` of each kind of place; times that of a column it is that of an estimate."""

    combined: Combined
    kind: Ints
    variance: Floats
    cells: Columns
    total: Columns


def spreads(measured: Measured, sigmas: Sequence[Sequence[Fraction]]) -> Spreads | None:
    """The spreads under normal noise of these σ, by level and marginal, in the same ratios on all levels; None where
    floats are not exact enough."""
    tree, ones = measured.tree, np.ones(len(measured.marginals[-1].index))
    weights, by_cell, total = None, Columns(ones, ones), Columns(ones.sum(keepdims=True), ones[:1])
    if measured.form is Form.FROM_TOP:
        by_cell, total = Columns(np.append(2 * ones[1:], 1.0), ones), Columns(ones[:1], ones[:1])
    elif len(measured.marginals) > 1:
        ratios = np.array([float((sigma / sigmas[0][-1]) ** 2) for sigma in sigmas[0]])
        weights = _weights(measured.marginals, ratios)
        if weights is None:
            return None
        root = np.sqrt(np.repeat(ratios, [marginal.size for marginal in measured.marginals]))[:, None]
        by_cell, total = _columns(root * weights), _columns(root * weights.sum(axis=1, keepdims=True))
    precision = np.array([float(1 / each[-1] ** 2) for each in sigmas])[tree.level]
    variance, kind = _kinds(tree, variances(shares(tree, precision))[:, 0])
    return Spreads(Combined(measured, weights, precision), kind, variance, by_cell, total)


def _columns(deviations: Floats) -> Columns:
    return Columns(np.square(deviations).sum(axis=0), np.abs(deviations).max(axis=0))


def _kinds(tree: Tree, variance: Floats) -> tuple[Floats, Ints]:
    """The different variances of each level, one level after the other, and which of them each place has."""
    variances_by_level: list[Floats] = []
    kind = np.empty(len(tree), dtype=np.int64)
    for tree_level in range(tree.depth):
        values, which = np.unique(variance[tree.places(tree_level)], return_inverse=True)
        kind[tree.places(tree_level)] = which.ravel() + sum(map(len, variances_by_level))
        variances_by_level.append(values)
    return np.concatenate(variances_by_level), kind


def reach(sigma: Fraction, numbers: int, level: Fraction) -> float | None:
    """z with 2·P[N > z]·exp(h²/24σ²) + numbers·Σ exp(−π²m²σ²)/(2√π·σ) ≤ 1 − level, certified; None if there is none
    below that of (1 − level)/2."""
    missed = 1 - level
    if sigma < _LEAST_SIGMA or missed < _LEAST_MISSED:
        return None
    widest = Fraction(normal_radius(missed / 2)) + Fraction(1, 10**6)

    def remaining() -> arb:
        wide, pi, z = real.ball(sigma), arb.pi(), real.ball(widest)
        first = (-((pi * wide) ** 2)).exp()
        aliased = numbers * first / (1 - first**3) / (2 * pi.sqrt() * wide)  # the m-th is below first^(3m − 2)
        hazard = (z + (z * z + 4).sqrt()) / 2
        return (real.ball(missed - _NEVER) - aliased) * (-((hazard / wide) ** 2) / 24).exp()

    remaining_lower = real.lower(remaining)
    return normal_radius(remaining_lower) if remaining_lower >= missed / 2 else None


def sigmas_of(laws: Laws) -> list[list[Fraction]] | None:
    """σ by level and marginal, if all are Gaussian and the views' variances are as s_l·r_a."""
    sigmas = [[law.sigma for law in each if isinstance(law, RoundedGaussian)] for each in laws]
    if any(len(each) != len(given) for each, given in zip(sigmas, laws, strict=True)):
        return None
    for each in sigmas[1:]:
        for sigma, first in zip(each, sigmas[0], strict=True):
            if abs((sigma * sigmas[0][-1] / (each[-1] * first)) ** 2 - 1) > _ALIKE:
                return None
    return sigmas


def _weights(marginals: Sequence[Marginal], ratios: Floats) -> Floats | None:
    """The weight of every measured number in every cell; None where floats are not exact enough."""
    if ratios.max() > _MOST_RATIO * ratios.min():
        return None
    weights = views(marginals, (1 / ratios).tolist()).weights
    return weights if float(_bias(marginals, weights).max()) <= _BIASED else None


def _bias(marginals: Sequence[Marginal], combining: Floats) -> Floats:
    """For each column of a combination, Σ over cells of |how often the cell is counted − how often it should be|."""
    cells = len(marginals[-1].index)
    target = np.eye(cells) if combining.shape[1] == cells else np.ones((cells, 1))
    sums = np.concatenate([matrix(marginal) for marginal in marginals]).T @ combining
    return np.asarray(np.abs(sums - target).sum(axis=0), dtype=np.float64)


def float_slack(measured: Measured, combining: Floats | None, widest: float) -> float:
    """An upper limit of the float error of an estimate, with the step that it is rounded to first.

    2⁻⁵³ for each operation of every place, times 128 standard deviations of a sum of all its leaves' cells.
    """
    tree, cells = measured.tree, len(measured.marginals[-1].index)
    leaves = tree_sums(tree, np.ones(len(tree.leaves)))
    largest = _FAR * widest * np.sqrt(cells * (1 + leaves))
    operations, biased = np.diff(tree.child) + 16.0, 0.0
    if combining is not None:
        operations += len(combining) * float(np.abs(combining).sum(axis=0).max())
        biased = float(_bias(measured.marginals, combining).max()) * float(largest[0])
    return 2.0**-53 * float(operations @ largest) + biased + 1 / _FINE
