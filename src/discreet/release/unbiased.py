"""Unbiased estimates of every cell and every place's total, and the ± of each.

    measured        a cell is what was measured for it (or g_s − g_{s+1}); a total is the sum of the view whose summed
                    noise is least
    least squares   every number from all views of all places at once (Gaussian noise only; combined.py)

The choice and the ± follow from public facts; only `cells` and `totals` see released numbers.
Proof page: docs/proofs/release/unbiased.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.answer.spread import sum_radius
from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.combined import Columns, Combined, Laws, Measured, float_slack, reach, sigmas_of, spreads
from discreet.release.measure import Form, Marginal
from discreet.release.tree import Tree

MEASURED, LEAST = "measured", "least squares"

_MARGIN = 1 + 1e-8  # of a standard deviation: above that and the rounding of every float in it


@dataclass(frozen=True, eq=False)
class Unbiased:
    """How the cells and totals of all places are estimated, and the ± of each number by itself.

    Radii are stored by kind of place; `kind` is that of each place.  Where there is a combination, `kept` marks the
    numbers that are still taken as measured, because their ± is smaller.
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
        """MEASURED or LEAST."""
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


def estimator(tree: Tree, form: Form, marginals: Sequence[Marginal], laws: Laws, level: Fraction) -> Unbiased:
    """Least squares where its ± summed over all cells is smaller, else the numbers as measured.  No ± exceeds that of
    the number as measured.

    >>> from discreet.noise.gaussian import RoundedGaussian
    >>> from discreet.release.measure import all_cells
    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> laws = [[RoundedGaussian(Fraction(20))]] * 2
    >>> found = estimator(tree, Form.PLAIN, [all_cells(["sex"], 2)], laws, Fraction(95, 100))
    >>> found.way, found.radius.tolist()   # as measured: ± 39
    ('least squares', [[32, 32], [32, 32], [32, 32]])
    >>> found.cells(np.array([[90, 30], [20, 10], [40, 20]])).tolist()
    [[80, 30], [30, 10], [50, 20]]
    """
    measured = Measured(tree, Form(form), tuple(marginals))
    if len(laws) != tree.depth or any(len(each) != len(measured.marginals) for each in laws):
        rule = f"must be {len(measured.marginals)} for each of the {tree.depth} levels"
        raise bad("laws", rule, [len(each) for each in laws], "Give the noise of every marginal on every level.")
    straight, combined = as_measured(measured, laws, level), least(measured, laws, level)
    return straight if combined is None or _all(combined) >= _all(straight) else _narrower(combined, straight)


def _all(estimates: Unbiased) -> int:
    """Σ of the ± of all cells."""
    counts = np.bincount(estimates.kind, minlength=len(estimates.spread))
    return int(counts @ estimates.spread.sum(axis=1))


def _narrower(combined: Unbiased, straight: Unbiased) -> Unbiased:
    """The combination, except for numbers whose ± is smaller as measured."""
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
    """Cells from the last marginal, totals from the one whose sum has the least ±; places of one level are one kind."""
    alone = [each[-1].radius(level) for each in laws]
    cells = len(measured.marginals[-1].index)
    if measured.form is Form.FROM_TOP:  # n_s = g_s − g_{s+1}, and g_1 is the total
        spread = [
            [sum_radius(each[-1], 2, level)] * (cells - 1) + [radius] for each, radius in zip(laws, alone, strict=True)
        ]
        best, totals = [len(measured.marginals) - 1] * len(laws), alone
    else:
        spread = [[radius] * cells for radius in alone]
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
    sigmas = sigmas_of(laws)
    if sigmas is None or (measured.form is Form.FROM_TOP and len(measured.marginals) > 1):
        return None
    smallest, widest = min(map(min, sigmas)), float(max(map(max, sigmas)))
    z, combination = reach(smallest, len(measured.tree) * measured.numbers, level), spreads(measured, sigmas)
    if z is None or combination is None:
        return None

    def radius(columns: Columns, combining: Floats | None) -> Ints:
        off = float_slack(measured, combining, widest) - 0.5  # an estimate is rounded: it must be off by q + ½ to miss
        far = (z * np.sqrt(columns.variance) + columns.largest / (2 * float(smallest))) * _MARGIN
        return np.maximum(0, np.ceil(np.outer(np.sqrt(combination.variance), far) + off)).astype(np.int64)

    weights = combination.combined.weights
    cells = radius(combination.cells, weights)
    totals = radius(combination.total, None if weights is None else weights.sum(axis=1, keepdims=True))[:, 0]
    kept, last = np.zeros(cells.shape, dtype=np.bool_), (len(measured.marginals) - 1,) * measured.tree.depth
    return Unbiased(measured, last, combination.combined, combination.kind, cells, totals, kept, kept[:, 0])
