"""Cells and marginals fitted at once: whole tables that add up and keep near to every view that was measured.

Views M_a of each place's cells are measured, and their least squares x̂ has the precision Q = Σ_a v_a·M_aᵀ·M_a times u_r
of the place.  Fitting cell by cell forgets Q: cells that are cut at 0 then spoil the marginals and totals, which are
known far better than the cells.  So, in real numbers,

    arg min Σ_r u_r·(x_r − x̂_r)ᵀ·Q·(x_r − x̂_r)   x ≥ 0,  x = 0 where not allowed,  each place the sum of its children

by alternating directions (Boyd et al. 2011).  With a table z ≥ 0, duals w and ρ > 0, until x and z agree:

    x   the sums' nearest to (Q + ρI)⁻¹·(Q·x̂ + ρ(z − w)): one pass over the tree for each cell, for the norm is u ⊗ Q
    z   max(0, x + w),    w   w + x − z

Then whole numbers: the totals of places, nearest to those of x, and given these the cells, by flows.  Every rule holds
whatever x is (docs/proofs/release/fit/together.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.attributes import matrix, views
from discreet.release.fit import integer, leaf_totals
from discreet.release.known import Known
from discreet.release.leastsquares import consistent, shares
from discreet.release.measure import Marginal
from discreet.release.tree import Tree

SCALE = 1024
SWEEPS, TOLERANCE = 200, 0.01


@dataclass(frozen=True, eq=False)
class MeasuredViews:
    """What is measured at every place: views and the weight ∝ 1/variance of each, the same on all levels."""

    marginals: tuple[Marginal, ...]
    weights: Sequence[float]


def whole_table(tree: Tree, noisy: Ints, weights: Ints, views: MeasuredViews, known: Known) -> Ints:
    """Counts ≥ 0, each place the sum of its children, with the total and the leaves' totals that are `held`.

    `noisy` has a row for each place with the numbers of all views side by side, `weights` one whole number for each
    place, ∝ 1/variance; the last view is all cells.
    """
    real = real_table(tree, noisy, weights, views, known)
    values, totals = np.rint(real * SCALE).astype(np.int64), known.leaf_totals
    if totals is None:
        sums, allowed = values.sum(axis=1, keepdims=True), known.allowed
        possible = None if allowed is None else np.asarray(allowed.any(axis=1, keepdims=True))
        table = integer.fit(tree, sums, weights, scale=SCALE, total=known.total, allowed=possible)
        totals = np.ascontiguousarray(table[tree.leaves, 0])
    return leaf_totals.fit(tree, values, weights, leaf_totals=totals, scale=SCALE, allowed=known.allowed)


def real_table(tree: Tree, noisy: Ints, weights: Ints, measured: MeasuredViews, known: Known) -> Floats:
    """The real table: its sums hold, and it is within the tolerance of one without negative cells."""
    precision = sum(
        (
            weight * matrix(marginal).T @ matrix(marginal)
            for weight, marginal in zip(measured.weights, measured.marginals, strict=True)
        ),
        np.zeros((len(measured.marginals[-1].index),) * 2),
    )
    ends = np.linalg.eigvalsh(precision)
    rho = float(np.sqrt(ends[0] * ends[-1]))
    inverse = np.linalg.inv(precision + rho * np.eye(len(precision)))
    start = views(measured.marginals, measured.weights).cells(noisy)
    fixed, back = start @ (precision @ inverse), rho * inverse
    shared, possible = shares(tree, weights.astype(np.float64)), known.possible(tree)
    public = None if known.leaf_totals is None else known.totals(tree)

    def adding_up(table: Floats) -> Floats:
        sums = consistent(shared, table)
        return sums if public is None else sums + ((public - sums.sum(axis=1)) / sums.shape[1])[:, None]

    table = adding_up(start)
    signed = _without_signs(table, possible)
    duals = np.zeros_like(table)
    for _ in range(SWEEPS):
        table = adding_up(fixed + (signed - duals) @ back)
        previous, signed = signed, _without_signs(table + duals, possible)
        duals += table - signed
        if max(float(np.abs(table - signed).max()), float(np.abs(signed - previous).max())) <= TOLERANCE:
            break
    return table


def _without_signs(table: Floats, possible: Bools | None) -> Floats:
    cut = np.maximum(0.0, table)
    return cut if possible is None else np.where(possible, cut, 0.0)
