"""Whole tables from the top down: the values of a parent are shared out among its children, cell by cell.

    real    arg min ∑_c (x_c − e_c)²/v_c   over x ≥ 0, ∑_c x_c = value of the parent
    whole   the real shares rounded down, and what is left given to the largest remainders, lower numbers first

e and v are what a child and all places below it say of it (first pass of `leastsquares`): where no share is cut at 0,
the real step is the least-squares table itself.  The top comes first: its cells are e rounded, cut at 0, or shared out
of a public total in the same way.  This is TopDown (Abowd et al. 2022) for a single histogram, with a sorted projection
on the simplex (Held, Wolfe & Crowder 1974); O(cells·log children) time.
"""

import numpy as np

from discreet.ndarrays import Bools, Ints
from discreet.release.check import allowed_places, require_reachable
from discreet.release.leastsquares import Estimates, from_below, require_measured
from discreet.release.tree import Tree


def fit(
    tree: Tree,
    noisy: Ints,
    weights: Ints,
    *,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
) -> Ints:
    """A whole table, 0 or more, whose sums hold, near noisy/scale; 0 where not `allowed`; its top sums to `total`.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> fit(tree, np.array([[9], [-2], [5]]), np.array([1, 1, 1])).ravel().tolist()
    [7, 0, 7]
    """
    require_measured(tree, noisy, weights, scale=scale, total=total)
    possible = allowed_places(tree, noisy.shape[1], allowed)
    require_reachable(total, None if possible is None else possible[0])
    below = from_below(tree, noisy, weights, scale=scale, allowed=possible)
    return shared_out(tree, below, total=total)


def shared_out(tree: Tree, below: Estimates, *, total: int | None = None) -> Ints:
    """The whole table from the top down of these estimates and variances; a variance of 0 is a cell that stays 0."""
    from discreet.release.fit.kernels import topdown as kernels

    fits = np.zeros(below.values.shape, dtype=np.int64)
    if total is None:
        fits[0] = np.maximum(0, np.floor(below.values[0] + 0.5))
    else:
        spread = np.ascontiguousarray(np.broadcast_to(below.variance[0], fits[0].shape))
        fits[0] = kernels.simplex(below.values[0], spread, int(total))
    kernels.simplex_rows(tree.child, below.values, below.variance, fits)
    return fits
