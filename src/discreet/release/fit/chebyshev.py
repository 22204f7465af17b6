"""Whole tables from the top down with the least largest error: InfTDA (Boninsegna & Silvestri 2025).

For each parent and cell, with y the noisy values of its children and m the value of the parent,

    min max_c |x_c − y_c|   over whole x ≥ 0, ∑_c x_c = m

is solved exactly in whole numbers.  Among the solutions those with the fewest x > 0 where y ≤ 0 are kept, of these the
nearest in squares, of these the first by number.  If the noise of the children is at most η and the parent is off by at
most e, each child is off by at most 2η + e (docs/proofs/release/fit/chebyshev.md).  A level takes nothing from the
levels below it.
"""

import numpy as np

from discreet.ndarrays import Bools, Ints
from discreet.release.check import allowed_places, require_reachable
from discreet.release.leastsquares import require_measured
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
    """A whole table, 0 or more, whose sums hold, with the least largest distance to noisy/scale at each parent.

    The weights are checked but play no part: one parent's children are compared with each other alone.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b"), ("x", "c")])
    >>> fit(tree, np.array([[9], [-2], [5], [8]]), np.ones(4, dtype=np.int64)).ravel().tolist()
    [9, 0, 3, 6]
    """
    from discreet.release.fit.kernels import topdown as kernels

    require_measured(tree, noisy, weights, scale=scale, total=total)
    possible = allowed_places(tree, noisy.shape[1], allowed)
    everywhere = np.zeros((0, noisy.shape[1]), dtype=np.bool_) if possible is None else possible
    require_reachable(total, None if possible is None else possible[0])
    fits = np.zeros(noisy.shape, dtype=np.int64)
    top = np.arange(noisy.shape[1]) if possible is None else np.flatnonzero(possible[0])
    if total is None:
        fits[0, top] = np.maximum(0, (2 * noisy[0, top] + scale) // (2 * scale))
    elif total > 0:
        fits[0, top] = kernels.chebyshev(noisy[0, top], int(scale), int(total))
    kernels.chebyshev_rows(tree.child, np.ascontiguousarray(noisy), int(scale), everywhere, fits)
    return fits
