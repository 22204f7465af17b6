"""The whole-number table nearest to noisy counts as the lecture finds it: with a cost for every value of every place.

    τ_a(v) = w_a·(scale·v − ñ_a)² + φ_a(v)                   φ = 0 at a leaf
    φ_a(v) = min { Σ_c τ_c(x_c) : Σ_c x_c = v }              over the children c of a,  v = 0 … bound

`fitted` fills the tables bottom up and splits top down (Fioretto, Van Hentenryck & Zhu 2021): the time is quadratic in
the bound.  `merged` uses that φ is convex: the marginal costs of the children, in order, are the marginals of φ, and
the time is bound·log bound.  Both are for small sizes; integer.py gives the same table with windows in place of 0 …
bound.  Costs are in units of 1/scale².  Proof: docs/proofs/release/fit/tables.md.
"""

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import bad
from discreet.ndarrays import Bools, Ints
from discreet.release.fit.duals import FitInput, fit_input, require_number
from discreet.release.tree import Tree

NEVER = 2**60  # the cost of a value that is not allowed
_LARGEST = 2**24  # entries of all tables together


def fitted(
    tree: Tree,
    noisy: ArrayLike,
    weights: ArrayLike,
    *,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
    bound: int | None = None,
) -> Ints:
    """The table of least cost with values 0 … bound, by full cost tables; arguments and ties as in integer.fit.

    `bound` is the total unless it is given.  Of equal splits the one is taken that gives the last child least.

    >>> from discreet.release.tree import from_edges
    >>> fitted(from_edges([("US", "GA"), ("US", "MI")]), [[2], [3], [0]], [1, 1, 1], bound=4).tolist()
    [[2], [2], [0]]
    """
    given = fit_input(tree, noisy, weights, scale=scale, total=total, allowed=allowed)
    costs = _costs(given, _bound(given, bound))
    table = np.zeros(given.noisy.shape, dtype=np.int64)
    if given.total is None:
        table[0] = costs[0].argmin(axis=1)
    else:
        table[0] = _split(costs[0], given.total)
    for place in range(len(tree)):
        below = slice(tree.child[place], tree.child[place + 1])
        if below.start < below.stop:
            for cell, value in enumerate(table[place]):
                table[below, cell] = _split(costs[below, cell], int(value))
    return table


def cost_tables(
    tree: Tree,
    noisy: ArrayLike,
    weights: ArrayLike,
    *,
    bound: int,
    scale: int = 1,
    allowed: Bools | None = None,
) -> Ints:
    """τ of each place and cell at 0 … bound, an array (places, cells, bound + 1); NEVER where a value is not allowed.

    >>> from discreet.release.tree import from_edges
    >>> cost_tables(from_edges([("US", "GA"), ("US", "MI")]), [[2], [3], [0]], [1, 1, 1], bound=4)[0, 0].tolist()
    [13, 5, 1, 1, 5]
    """
    given = fit_input(tree, noisy, weights, scale=scale, total=None, allowed=allowed)
    return _costs(given, _bound(given, bound))


def cost(noisy: ArrayLike, weights: ArrayLike, table: ArrayLike, *, scale: int = 1) -> int:
    """Σ_r w_r Σ_s (scale·x_{r,s} − ñ_{r,s})², exactly.

    >>> cost([[2], [3], [0]], [1, 1, 1], [[3], [3], [0]])
    1
    """
    counts, heavy, values = (np.asarray(array).astype(object) for array in (noisy, weights, table))
    return int((heavy[:, None] * (scale * values - counts) ** 2).sum())


def _bound(given: FitInput, bound: int | None) -> int:
    """The largest value looked at; refused where the tables would not fit or their costs leave 64 bits."""
    largest = given.total if bound is None else bound
    largest = require_number("bound", largest, given.total or 0, _LARGEST // given.noisy.size - 1)
    farthest = given.scale * largest + max(int(given.noisy.max()), -int(given.noisy.min()))
    if given.noisy.size * int(given.weights.max()) * farthest**2 >= NEVER:
        raise bad("noisy", "must have costs below 2⁶⁰", None, "Use smaller weights or a smaller scale.")
    return largest


# --- costs ---------------------------------------------------------------------------------------------------------


def _costs(given: FitInput, bound: int) -> Ints:
    tree, cells = given.tree, given.noisy.shape[1]
    values = given.scale * np.arange(bound + 1)
    costs = given.weights[:, None, None] * (values - given.noisy[:, :, None]) ** 2
    for place in reversed(range(len(tree))):
        below = range(tree.child[place], tree.child[place + 1])
        for cell in range(cells):
            if below:
                costs[place, cell] += _joined(costs[below, cell])[-1]
        costs[place, ~given.free[place], 1:] = NEVER
    return np.minimum(costs, NEVER)


def _joined(costs: Ints) -> list[Ints]:
    """For the first child, the first two, … : the least cost of each sum of their values."""
    prefixes = [costs[0]]
    for child in costs[1:]:
        sums = [np.min(prefixes[-1][: value + 1] + child[value::-1]) for value in range(len(child))]
        prefixes.append(np.minimum(np.array(sums, dtype=np.int64), NEVER))
    return prefixes


def _split(costs: Ints, value: int) -> Ints:
    """Values of least cost that add up to the value: the last child gets as little as it may, then the one before."""
    prefixes, parts = _joined(costs), np.zeros(len(costs), dtype=np.int64)
    for child in range(len(costs) - 1, 0, -1):
        parts[child] = np.argmin(prefixes[child - 1][value::-1] + costs[child][: value + 1])
        value -= int(parts[child])
    parts[0] = value
    return parts


# --- the convex merge ----------------------------------------------------------------------------------------------


def merged(
    tree: Tree,
    noisy: ArrayLike,
    weights: ArrayLike,
    *,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
    bound: int | None = None,
) -> Ints:
    """The same table by merging marginal costs in order, a lower child first among equals.

    >>> from discreet.release.tree import from_edges
    >>> merged(from_edges([("US", "GA"), ("US", "MI")]), [[2], [3], [0]], [1, 1, 1], bound=4).tolist()
    [[2], [2], [0]]
    """
    given = fit_input(tree, noisy, weights, scale=scale, total=total, allowed=allowed)
    largest, cells = _bound(given, bound), given.noisy.shape[1]
    rises: dict[tuple[int, int], Ints] = {}
    owners: dict[tuple[int, int], Ints] = {}
    for place in reversed(range(len(tree))):
        below = range(tree.child[place], tree.child[place + 1])
        for cell in range(cells):
            rise, owners[place, cell] = _in_order([rises[child, cell] for child in below], largest)
            reach = (largest if given.free[place, cell] else 0) if not below else len(rise)
            own = 2 * given.scale * np.arange(reach) + given.scale - 2 * given.noisy[place, cell]
            rises[place, cell] = given.scale * given.weights[place] * own + (rise if below else 0)
    table = np.zeros(given.noisy.shape, dtype=np.int64)
    tops = [rises[0, cell] for cell in range(cells)]
    if given.total is None:
        table[0] = [np.count_nonzero(rise < 0) for rise in tops]
    else:
        table[0] = np.bincount(_in_order(tops, largest)[1][: given.total], minlength=cells)
    for place in range(len(tree)):
        first, count = tree.child[place], tree.child[place + 1] - tree.child[place]
        for cell in range(cells if count else 0):
            taken = owners[place, cell][: table[place, cell]]
            table[first : first + count, cell] = np.bincount(taken, minlength=count)
    return table


def _in_order(rises: list[Ints], largest: int) -> tuple[Ints, Ints]:
    """The cheapest units of all children, `most` at most, and whose each one is."""
    every = np.concatenate([np.zeros(0, dtype=np.int64), *rises])
    owner = np.repeat(np.arange(len(rises)), [len(rise) for rise in rises])
    order = np.argsort(every, kind="stable")[:largest]
    return every[order], owner[order]
