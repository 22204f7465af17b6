"""The best unbiased table whose sums hold: least squares over the tree, with the exact variance of every place.

With y the measured value of a place, w its weight and c its children,

    arg min ∑ w·(x − y)²   over tables in which each place is the sum of its children

takes two passes (Hay, Rastogi, Miklau & Suciu 2010).  Up, what a place and all below it say of it:

    leaf       e = y,                         v = 1/w
    elsewhere  S = ∑ e_c,  V = ∑ v_c,         e = (wV·y + S)/(wV + 1),   v = V/(wV + 1)

Down, what the whole tree says:   x = e,  u = v at the top;   below a parent with x, u, S and V

    x_c = e_c + (v_c/V)·(x − S),     u_c = v_c·(1 − v_c/V) + (v_c/V)²·u

u is the variance of x where a measurement of weight w has variance 1/w (docs/proofs/leastsquares.md).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.release.tree import Ints, Tree, of_children

Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]
MOST_WEIGHT = 2**20
MOST = 2**60


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values by place and cell, and the variance of each place, the same in all its cells."""

    values: Reals
    variance: Reals


def estimated(tree: Tree, noisy: Ints, weights: Ints, *, scale: int = 1) -> Estimates:
    """The least-squares table of noisy/scale and the variance of each place, in time and memory linear in the cells.

    Unbiased where the noise is, and of all such linear estimates the one of least variance in every place if the
    weights are as 1/variance (Gauss–Markov); values may be negative or broken.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> found = estimated(tree, np.array([[9], [2], [4]]), np.array([1, 1, 1]))
    >>> found.values.ravel().tolist(), found.variance.round(4).tolist()
    ([8.0, 3.0, 5.0], [0.6667, 0.6667, 0.6667])
    """
    require_measured(tree, noisy, weights, scale=scale)
    below = from_below(tree, noisy, weights, scale=scale)
    values, variance = below.values, below.variance
    for level in range(tree.depth - 1):
        here, under = tree.places(level), tree.places(level + 1)
        above = tree.parent[under] - tree.first[level]
        share = variance[under] / _spread(tree, variance, level)[above]
        # The children of this level still hold e and v: only places above have been overwritten.
        short = values[here] - _spread(tree, values, level)
        values[under] += share * short[above]
        variance[under] = variance[under] * (1 - share) + share**2 * variance[here][above]
    return Estimates(values, variance[:, 0])


def from_below(tree: Tree, noisy: Ints, weights: Ints, *, scale: int = 1, allowed: Bools | None = None) -> Estimates:
    """For each place what it and the places below it say of it: e and v of the first pass.

    `allowed` (places, cells): False is a 0 known without noise, e = v = 0; v then has a column for each cell, else one.
    """
    values = noisy / scale
    precision = weights[:, None].astype(np.float64)
    variance = 1 / precision
    if allowed is not None:
        values, variance = np.where(allowed, values, 0.0), np.where(allowed, variance, 0.0)
    for level in reversed(range(tree.depth - 1)):
        here = tree.places(level)
        inner = np.flatnonzero(np.diff(tree.child[here.start : here.stop + 1])) + here.start
        spread = _spread(tree, variance, level)[inner - here.start]
        own = precision[inner] * spread
        values[inner] = (own * values[inner] + _spread(tree, values, level)[inner - here.start]) / (own + 1)
        variance[inner] = spread / (own + 1)
    return Estimates(values, variance)


def _spread(tree: Tree, table: Reals, level: int) -> Reals:
    return of_children(tree, table, level).astype(np.float64, copy=False)


# --- what may be given -----------------------------------------------------------------------------------------------


def require_measured(tree: Tree, noisy: Ints, weights: Ints, *, scale: int = 1, total: int | None = None) -> None:
    """Refuses shapes and sizes that do not fit: weights from 1 to 2²⁰; |noisy| and total·scale, each times the longer
    side of the table, at most 2⁶⁰."""
    if noisy.ndim != 2 or noisy.shape[0] != len(tree) or not noisy.shape[1] or noisy.dtype != np.int64:
        what = f"must be whole numbers (int64) with a row for each of the {len(tree)} places and one column or more"
        raise bad(
            "noisy", what, (noisy.dtype.name, noisy.shape), "Give a row for each place, in the order of the tree."
        )
    if weights.shape != (len(tree),) or weights.dtype != np.int64:
        what = f"must be {len(tree)} whole numbers (int64), one for each place"
        raise bad("weights", what, (weights.dtype.name, weights.shape), "Repeat the weight of a level for its places.")
    if weights.min() < 1 or weights.max() > MOST_WEIGHT:
        wrong = int(weights.min()) if weights.min() < 1 else int(weights.max())
        raise bad("weights", "must be from 1 to 2^20", wrong, "Divide or multiply them all by one number.")
    if isinstance(scale, bool) or not isinstance(scale, int | np.integer) or not 1 <= scale <= MOST_WEIGHT:
        raise bad("scale", "must be a whole number from 1 to 2^20", scale, "Give 1 if noisy is in whole counts.")
    require_size("noisy", max(int(noisy.max()), -int(noisy.min())), max(noisy.shape))
    if total is not None:
        if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 0:
            raise bad("total", "must be a whole number, 0 or more", total, "Give the public number at the top.")
        require_size("total", int(total) * int(scale), max(noisy.shape))


def require_size(name: str, largest: int, terms: int) -> None:
    """Refuses what could overflow a sum: largest·terms must be at most 2⁶⁰."""
    if largest * terms > MOST:
        what = f"must be at most {MOST // terms} in a sum of {terms}, or it could overflow"
        raise bad(name, what, largest, "Give smaller numbers, or fewer places or cells.")
