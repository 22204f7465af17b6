"""The best unbiased table whose sums hold: least squares over the tree, with the exact variance of every place.

With y the measured value of a place, w its precision and c its children,

    arg min ∑ w·(x − y)²   over tables in which each place is the sum of its children

takes two passes (Hay, Rastogi, Miklau & Suciu 2010).  Up, what a place and all below it say of it:

    leaf       e = y,                         v = 1/w
    elsewhere  S = ∑ e_c,  V = ∑ v_c,         e = S + own·(y − S),   own = wV/(wV + 1),   v = V/(wV + 1)

Down, what the whole tree says:   x = e,  u = v at the top;   below a parent with x, u, S and V

    x_c = e_c + share_c·(x − S),     u_c = v_c·(1 − share_c) + share_c²·u,     share_c = v_c/V

u is the variance of x where a measurement of precision w has variance 1/w (docs/proofs/release/leastsquares.md).  A
table that adds up already comes back as it is, to the last digit, whatever the precisions.
"""

from dataclasses import dataclass

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.tree import Tree, of_children

MOST_WEIGHT = 2**20
MOST = 2**60


@dataclass(frozen=True, eq=False)
class Pass:
    """The coefficients of both passes: own, share and, as `below`, v; with one column, or one for each cell."""

    tree: Tree
    own: Floats
    share: Floats
    below: Floats


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values by place and cell, and the variance of each place, the same in all its cells."""

    values: Floats
    variance: Floats


def shares(tree: Tree, precision: Floats, *, allowed: Bools | None = None) -> Pass:
    """The coefficients of every place, from one positive precision for each place.

    `allowed` (places, cells): False is a 0 known without noise, v = 0; the result then has a column for each cell.
    """
    if precision.shape != (len(tree),) or not (np.isfinite(precision) & (precision > 0)).all():
        what = f"must be {len(tree)} positive numbers, one for each place"
        raise bad("precision", what, precision.shape, "Give 1/variance of each place.")
    weights = precision[:, None]
    below = 1 / weights
    if allowed is not None:
        below = np.where(allowed, below, 0.0)
    own, share = np.ones(below.shape), np.ones(below.shape)
    for tree_level in reversed(range(tree.depth - 1)):
        rows, rows_below = tree.places(tree_level), tree.places(tree_level + 1)
        spread = of_children(tree, below, tree_level)
        above = tree.parent[rows_below] - tree.first[tree_level]
        np.divide(
            below[rows_below], spread[above], out=share[rows_below], where=spread[above] > 0
        )  # else nothing to share
        inner = np.flatnonzero(np.diff(tree.child[rows.start : rows.stop + 1]))
        weighted = weights[rows][inner] * spread[inner]
        own[rows.start + inner] = weighted / (weighted + 1)
        below[rows.start + inner] = spread[inner] / (weighted + 1)
    return Pass(tree, own, share, below)


def variances(shared: Pass) -> Floats:
    """u of every place, with the columns of `shared`."""
    tree, variance = shared.tree, shared.below.copy()
    for tree_level in range(1, tree.depth):
        rows = tree.places(tree_level)
        share = shared.share[rows]
        variance[rows] = variance[rows] * (1 - share) + share**2 * variance[tree.parent[rows]]
    return variance


def consistent(shared: Pass, table: Floats, top: Floats | None = None) -> Floats:
    """The nearest table, in squares weighted by place, in which places are the sums of their children; its top is `top`
    where that is given and not NaN.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> consistent(shares(tree, np.ones(3)), np.array([[9.0], [2.0], [4.0]])).ravel().tolist()
    [8.0, 3.0, 5.0]
    """
    tree, fits = shared.tree, table.copy()
    sums = _upward(shared, fits)
    if top is not None:
        fits[0] = np.where(np.isnan(top), fits[0], top)
    for tree_level in range(1, tree.depth):
        rows = tree.places(tree_level)
        short = fits[tree.places(tree_level - 1)] - sums.pop()
        added = short[tree.parent[rows] - tree.first[tree_level - 1]]
        added *= shared.share[rows]
        fits[rows] += added
    return fits


def _upward(shared: Pass, values: Floats) -> list[Floats]:
    """Replace y by e in `values` and return S by level, the top's last."""
    tree, sums = shared.tree, []
    for tree_level in reversed(range(tree.depth - 1)):
        rows = tree.places(tree_level)
        sums.append(of_children(tree, values, tree_level))
        values[rows] = sums[-1] + shared.own[rows] * (values[rows] - sums[-1])
    return sums


# --- from below ------------------------------------------------------------------------------------------------------


def from_below(tree: Tree, noisy: Ints, weights: Ints, *, scale: int = 1, allowed: Bools | None = None) -> Estimates:
    """e and v of the first pass: the estimate of each place from itself and the places below it.

    `allowed` (places, cells): False is a 0 known without noise, e = v = 0; v then has a column for each cell, else one.
    """
    shared = shares(tree, weights.astype(np.float64), allowed=allowed)
    values = noisy / scale if allowed is None else np.where(allowed, noisy / scale, 0.0)
    _upward(shared, values)
    return Estimates(values, shared.below)


# --- guards -----------------------------------------------------------------------------------------------------------


def require_measured(tree: Tree, noisy: Ints, weights: Ints, *, scale: int = 1, total: int | None = None) -> None:
    """Refuse wrong shapes and sizes: weights from 1 to 2²⁰; |noisy| and total·scale, each times the longer side of the
    table, at most 2⁶⁰."""
    if noisy.ndim != 2 or noisy.shape[0] != len(tree) or not noisy.shape[1] or noisy.dtype != np.int64:
        what = f"must be whole numbers (int64) with a row for each of the {len(tree)} places and one column or more"
        fix = "Give a row for each place, in the order of the tree."
        raise bad("noisy", what, (noisy.dtype.name, noisy.shape), fix)
    require_weights(tree, weights)
    if isinstance(scale, bool) or not isinstance(scale, int | np.integer) or not 1 <= scale <= MOST_WEIGHT:
        raise bad("scale", "must be a whole number from 1 to 2^20", scale, "Give 1 if noisy is in whole counts.")
    require_size("noisy", max(int(noisy.max()), -int(noisy.min())), max(noisy.shape))
    if total is not None:
        if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 0:
            raise bad("total", "must be a whole number, 0 or more", total, "Give the public number at the top.")
        require_size("total", int(total) * int(scale), max(noisy.shape))


def require_weights(tree: Tree, weights: Ints) -> None:
    """Refuse weights that are not whole numbers from 1 to 2²⁰, one for each place."""
    if weights.shape != (len(tree),) or weights.dtype != np.int64:
        what = f"must be {len(tree)} whole numbers (int64), one for each place"
        raise bad("weights", what, (weights.dtype.name, weights.shape), "Repeat the weight of a level for its places.")
    if weights.min() < 1 or weights.max() > MOST_WEIGHT:
        wrong = int(weights.min()) if weights.min() < 1 else int(weights.max())
        raise bad("weights", "must be from 1 to 2^20", wrong, "Divide or multiply them all by one number.")


def require_size(name: str, largest: int, terms: int) -> None:
    """Refuse numbers whose sum could overflow: largest·terms must be at most 2⁶⁰."""
    if largest * terms > MOST:
        what = f"must be at most {MOST // terms} in a sum of {terms}, or it could overflow"
        raise bad(name, what, largest, "Give smaller numbers, or fewer places or cells.")
