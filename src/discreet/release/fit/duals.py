"""The real table nearest to noisy counts that adds up over a tree, found by its duals λ.

    minimise  Σ_r w_r Σ_s (x_{r,s} − ñ_{r,s}/scale)²
    where     x_{r,s} = Σ x_{c,s} over the children c of r,   x ≥ 0,   x = 0 where not allowed,   Σ_s x_{top,s} = total

τ(v) is the least cost of a place and all below it when its value is v.  Its demand at the dual λ,
arg min τ(v) − λ·v, is a polyline that starts at 0 and grows ever more steeply.  Demands add up over children, the own
term of a place shears the sum, one dual at the top meets the total, and duals are handed down.  Sorting breakpoints
costs O(m log m) on each level for m leaves × cells, and memory 24 bytes for each breakpoint on each level above the
leaves.  Proof: docs/proofs/release/fit/duals.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.tree import Tree

HEAVIEST = 2**20  # the largest weight and the largest scale
LARGEST = 2**53  # the largest count in parts of a unit: each is a float64


def projection(
    tree: Tree,
    noisy: ArrayLike,
    weights: ArrayLike,
    *,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
) -> Floats:
    """The table that solves the program above, up to the rounding of float64; sums are those of its leaves.

    `noisy` (places, cells) counts in parts of 1/scale, `weights` (places,) are whole numbers proportional to
    1/variance, `allowed` (leaves, cells) is False where a count is 0 by nature; `total` None leaves the top free.
    Fioretto, Van Hentenryck & Zhu 2021 solve this program, their relaxed mechanism, with a general solver.

    >>> from discreet.release.tree import from_edges
    >>> projection(from_edges([("US", "GA"), ("US", "MI")]), [[2], [3], [0]], [1, 1, 1]).tolist()
    [[2.5], [2.5], [0.0]]
    """
    return real_table(fit_input(tree, noisy, weights, scale=scale, total=total, allowed=allowed))


# --- what is given -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FitInput:
    """What was measured and what is known, checked: `free` says of each place and cell whether it may be above 0,
    `slot` numbers the places that have children, `starts` says where the curve of each of these begins."""

    tree: Tree
    noisy: Ints
    weights: Ints
    scale: int
    total: int | None
    free: Bools
    slot: Ints
    starts: Ints


def fit_input(
    tree: Tree, noisy: ArrayLike, weights: ArrayLike, *, scale: int, total: int | None, allowed: Bools | None
) -> FitInput:
    """The checked inputs of one fit; whatever cannot be fitted is refused here, before any work."""
    from discreet.release.fit.kernels import duals as kernels

    counts = _whole("noisy", noisy)
    if counts.ndim != 2 or len(counts) != len(tree) or not counts.shape[1]:
        fix = f"Give {len(tree)} rows, one for each place, with at least one cell each."
        raise bad("noisy", "must have a row for each place", counts.shape, fix)
    if not -LARGEST <= counts.min() <= counts.max() <= LARGEST:
        raise bad("noisy", "must lie between −2⁵³ and 2⁵³", None, "Use a smaller scale.")
    heavy = _whole("weights", weights)
    if heavy.shape != (len(tree),) or not 1 <= heavy.min() <= heavy.max() <= HEAVIEST:
        rule = f"must be {len(tree)} whole numbers between 1 and 2²⁰, one for each place"
        raise bad("weights", rule, heavy.shape, "Scale the weights: only their ratios matter.")
    fine = require_number("scale", scale, 1, HEAVIEST)
    whole = None if total is None else require_number("total", total, 0, LARGEST // fine)
    free = _free(tree, counts.shape[1], allowed)
    slot = np.where(np.diff(tree.child) > 0, 0, -1)
    slot[slot == 0] = np.arange(np.count_nonzero(slot == 0))
    size = np.zeros((int(slot.max()) + 1, counts.shape[1]), dtype=np.int64)
    kernels.count_free(tree.child, slot, free, size)
    size[:1] = 0  # the top keeps no curve
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(size)])
    if whole and not free[0].any():
        raise bad("total", "must be 0 where no cell is allowed", total, "Allow a cell, or give the total 0.")
    return FitInput(tree, counts, heavy, fine, whole, free, slot, starts)


def _whole(name: str, numbers: ArrayLike) -> Ints:
    array = np.asarray(numbers)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.size and array.max() > LARGEST):
        raise bad(name, "must be whole numbers of 64 bits", array.dtype, "Round to a fine scale and give integers.")
    return np.ascontiguousarray(array, dtype=np.int64)


def require_number(name: str, value: object, lowest: int, highest: int) -> int:
    """The whole number that was given, refused unless it lies between two others."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not lowest <= value <= highest:
        raise bad(name, f"must be a whole number between {lowest} and {highest}", value, f"Give such a {name}.")
    return int(value)


def _free(tree: Tree, cells: int, allowed: Bools | None) -> Bools:
    """A table that is True at the leaves that may be above 0."""
    shape = (len(tree.leaves), cells)
    if allowed is not None and (np.asarray(allowed).dtype != bool or np.shape(allowed) != shape):
        given = np.asarray(allowed)
        raise bad("allowed", f"must be True or False, of shape {shape}", given.shape, "Give a row for each leaf.")
    free = np.zeros((len(tree), cells), dtype=np.bool_)
    free[tree.leaves] = True if allowed is None else allowed
    return free


# --- duals --------------------------------------------------------------------------------------------------------


def real_table(inputs: FitInput) -> Floats:
    """The nearest real table of checked inputs."""
    from discreet.release.fit.kernels import duals as kernels

    if len(inputs.tree) == 1:
        return _single(inputs)
    facts = (inputs.tree.child, inputs.slot, inputs.free, inputs.noisy, inputs.scale, inputs.weights, inputs.starts)
    curves = kernels.curves(*facts, int(np.diff(inputs.starts).max()))
    table = np.empty(inputs.noisy.shape)
    table[0] = -np.inf
    if inputs.total != 0:
        kernels.duals_below_top(-1.0 if inputs.total is None else float(inputs.total), *facts, *curves, table[0])
    kernels.hand_down(table, *facts, *curves)
    return table


def _single(inputs: FitInput) -> Floats:
    """The table of a tree of one place: x_s = max(0, ñ_s + μ), where μ, if there is a total, makes x add up to it.

    With k cells above 0 that μ is (total − their sum)/k, and k is the largest number for which ñ of the k-th largest
    is above −μ (Held, Wolfe & Crowder 1974).
    """
    counts = np.where(inputs.free, inputs.noisy / inputs.scale, -np.inf)
    if inputs.total is None:
        return np.maximum(0.0, counts)
    if not inputs.total:
        return np.zeros(counts.shape)
    largest = np.sort(counts[inputs.free])[::-1]
    shift = (inputs.total - np.cumsum(largest)) / np.arange(1, len(largest) + 1)
    return np.asarray(np.maximum(0.0, counts + shift[np.flatnonzero(largest + shift > 0)[-1]]))
