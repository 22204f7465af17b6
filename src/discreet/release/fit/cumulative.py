"""Group sizes from noisy cumulative counts, each place made monotone by itself (M_c^dp).

    c_{r,s} = number of groups in place r of size ≤ s, s = 0 … N          n_{r,s} = c_{r,s} − c_{r,s−1},  c_{r,−1} = 0

A person who comes or goes moves one group from s to s ± 1 and so changes one c by 1 on each level, against two n.  The
measured c is made non-decreasing, cut to what is public (0 ≤ c ≤ total), and differenced; what comes out is real, and
goes on in units of 1/1,024 so that the integer step after it can be exact (Fioretto, Van Hentenryck & Zhu 2021).

Numbers of groups of *at least* each size are cumulative counts too, with the columns taken in the opposite order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Floats, Ints
from discreet.release.fit import isotonic
from discreet.release.fit.isotonic import LARGEST
from discreet.release.tree import Tree, tree_sums

SCALE = 1024


class Scaled(NamedTuple):
    """A table of whole numbers that stands for values/scale."""

    values: Ints
    scale: int


@dataclass(frozen=True, eq=False)
class Ends:
    """What is public of the last column: the number of groups of each place (`known`) or a bound of it (`limits`)."""

    known: Ints | None
    limits: Floats


def differences(tree: Tree, noisy: Ints, *, total: int | None = None, leaf_totals: Ints | None = None) -> Scaled:
    """Counts of groups by size, not below 0, each place's nearest to its own noisy cumulative counts.

    Per place r: arg min ∑ₛ (xₛ − c̃_{r,s})² over 0 ≤ x₀ ≤ … ≤ x_N ≤ total, then xₛ − xₛ₋₁.  x_N is the public number of
    groups where one is given: `total` at the top, `leaf_totals` everywhere.  Sums over the tree do not hold yet.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> values, scale = differences(tree, np.array([[1, 5, 4], [2, 1, 2], [0, 3, 3]]), total=5)
    >>> (values / scale).tolist()
    [[1.0, 4.0, 0.0], [1.5, 0.0, 0.5], [0.0, 3.0, 0.0]]
    """
    require_cumulative(tree, noisy)
    ends = public_ends(tree, total, leaf_totals)
    if ends.known is not None:
        free = isotonic.monotone(noisy[:, :-1], lowest=0, highest=ends.limits)
        return scaled_differences(np.hstack([free, ends.known[:, None].astype(np.float64)]))
    fits = isotonic.monotone(noisy, lowest=0, highest=ends.limits)
    if total is not None:  # the top's last entry is known: it bounds the others and is not fitted
        fits[:1, :-1] = isotonic.monotone(noisy[:1, :-1], lowest=0, highest=ends.limits[:1])
        fits[0, -1] = total
    return scaled_differences(fits)


def scaled_differences(cumulative: Floats) -> Scaled:
    """Differences of cumulative counts, each rounded to 1/1,024 first: a row adds up to its rounded last entry."""
    whole = np.rint(cumulative * SCALE).astype(np.int64)
    return Scaled(np.diff(whole, axis=1, prepend=0), SCALE)


def require_cumulative(tree: Tree, noisy: NDArray[np.generic]) -> None:
    """Nothing, or the refusal of cumulative counts that do not fit the tree."""
    if noisy.ndim != 2 or len(noisy) != len(tree) or noisy.shape[1] < 2:
        what = f"must have a row for each of the {len(tree)} places and a column for each size, two at least"
        raise bad("noisy", what, noisy.shape, "Count sizes 0 to N, N ≥ 1, in every place of the tree.")
    if noisy.dtype != np.int64:
        raise bad("noisy", "must be whole numbers of 64 bits", str(noisy.dtype), "Give what was measured.")
    if max(int(noisy.max()), -int(noisy.min())) > LARGEST:
        raise bad("noisy", "must lie between −2⁴⁰ and 2⁴⁰", None, "Use less noise or count in larger units.")


def public_ends(tree: Tree, total: int | None, leaf_totals: Ints | None) -> Ends:
    """What `total` and `leaf_totals` say about the number of groups of every place."""
    if total is not None and not 0 <= total <= LARGEST:
        raise bad("total", "must lie between 0 and 2⁴⁰", total, "Give the public number of groups, or None.")
    if leaf_totals is None:
        return Ends(None, np.full(len(tree), np.inf if total is None else float(total)))
    known = totals_of(tree, leaf_totals)
    if total is not None and known[0] != total:
        fix = "Give one of the two, or make the leaves add up to the total."
        raise bad("total", "must be the sum of the leaves' totals", total, fix)
    return Ends(known, known.astype(np.float64))


def totals_of(tree: Tree, leaf_totals: Ints) -> Ints:
    """The public number of groups of every place, from that of the leaves."""
    given = np.asarray(leaf_totals)
    if given.shape != (len(tree.leaves),) or given.dtype != np.int64:
        what = f"must be {len(tree.leaves)} whole numbers, one for each leaf"
        raise bad("leaf_totals", what, (given.shape, str(given.dtype)), "Give them in the order of tree.leaves.")
    if given.min() < 0 or float(given.sum(dtype=np.float64)) > LARGEST:
        raise bad("leaf_totals", "must not be negative and add up to 2⁴⁰ at most", int(given.min()), "Check them.")
    known: Ints = tree_sums(tree, given).astype(np.int64)
    return known
