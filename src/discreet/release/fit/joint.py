"""Noisy cumulative counts made monotone in the size and additive over the tree at once (M_c^joint).

    arg min ∑_r w_r ∑ₛ (x_{r,s} − c̃_{r,s})²   over   A = {each place the sum of its children, for every s}
                                              and    B = {0 ≤ x_{r,0} ≤ … ≤ x_{r,N} in every place r}

by Dykstra's method (Boyle & Dykstra 1986): project on A and on B in turn, giving back before each projection on B what
the last one took away.  A is affine and needs no such correction.  After any number of sweeps the weighted squared
error is no larger than that of the noisy counts themselves (docs/proofs/release/fit/joint.md).  The projection on A is
that of `leastsquares`, one pass up and one down; that on B pools adjacent violators row by row.

`whole_sizes` then deals the groups of each parent out to its children in order of size, so that cumulative counts move
by less than 1 a level.  A least-squares step on differences would end much farther off in sizes (EMD): a squared
distance between counts does not see which sizes are neighbours.
"""

from collections.abc import Callable

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Floats, Ints
from discreet.release.fit import isotonic
from discreet.release.fit.cumulative import public_ends, require_cumulative
from discreet.release.leastsquares import consistent, require_weights, shares
from discreet.release.tree import Tree


def dykstra(
    start: Floats, onto_a: Callable[[Floats], Floats], onto_b: Callable[[Floats], Floats], sweeps: int, tolerance: float
) -> Floats:
    """A point of B after at most so many sweeps between an affine A and a convex B, or as soon as A is within the
    tolerance of it in every entry; gap 0 means that it is the projection of the start on A ∩ B."""
    if not (isinstance(sweeps, int) and sweeps >= 1 and tolerance >= 0):
        raise bad("sweeps", "must be at least 1, and the tolerance not negative", (sweeps, tolerance), "Use 25, 0.01.")
    point, correction = start, np.zeros_like(start)
    for _ in range(sweeps):
        added = onto_a(point)
        correction += added
        point = onto_b(correction)
        correction -= point
        if float(np.abs(point - added).max(initial=0.0)) <= tolerance:
            break
    return point


def whole_sizes(
    tree: Tree,
    noisy: Ints,
    weights: Ints,
    *,
    total: int | None = None,
    leaf_totals: Ints | None = None,
) -> Ints:
    """Whole counts of groups by size, ≥ 0, each place the sum of its children, with the public numbers of groups.

    The top has its fitted cumulative counts, rounded.  Under a parent with whole cumulative counts C the children have
    monotone fits xᵢ with sum X; child i is to have xᵢ(X⁻¹(Cₛ)) groups up to size s, with straight lines between sizes,
    and gets that rounded up or down: a group goes to the child that needs one soonest
    (docs/proofs/release/fit/joint.md).

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> whole_sizes(tree, np.array([[1, 5, 4], [2, 1, 2], [0, 3, 3]]), np.array([1, 1, 1]), total=5).tolist()
    [[1, 4, 0], [1, 1, 0], [0, 3, 0]]
    """
    from discreet.release.fit.kernels import isotonic as kernels

    fits = cumulative_counts(tree, noisy, weights, total=total, leaf_totals=leaf_totals)
    ends = public_ends(tree, total, leaf_totals)
    curves = isotonic.monotone(fits, lowest=0, highest=ends.limits)
    table = np.zeros(curves.shape, dtype=np.int64)
    if ends.known is not None:
        curves[:, -1] = ends.known
    table[0] = np.rint(curves[0])
    if total is not None:
        table[0, -1] = total
    limits = np.minimum(ends.limits, float(table[0, -1])).astype(np.int64)
    kernels.hand_down(tree.child, curves, limits, table)
    return np.diff(table, axis=1, prepend=0)


def cumulative_counts(
    tree: Tree,
    noisy: Ints,
    weights: Ints,
    *,
    total: int | None = None,
    leaf_totals: Ints | None = None,
    sweeps: int = 25,
    tolerance: float = 0.01,
) -> Floats:
    """The fitted cumulative counts: in A, and within the tolerance of B."""
    require_cumulative(tree, noisy)
    require_weights(tree, weights)
    shared, ends = shares(tree, weights.astype(np.float64)), public_ends(tree, total, leaf_totals)
    free = noisy.shape[1] - (ends.known is not None)
    top = np.full(free, np.nan)
    if ends.known is None and total is not None:
        top[-1] = total

    def onto_a(table: Floats) -> Floats:
        return consistent(shared, table, top)

    def onto_b(table: Floats) -> Floats:
        return isotonic.monotone(table, lowest=0, highest=ends.limits)

    fits = onto_a(dykstra(noisy[:, :free].astype(np.float64), onto_a, onto_b, sweeps, tolerance))
    return fits if ends.known is None else np.hstack([fits, ends.known[:, None].astype(np.float64)])
