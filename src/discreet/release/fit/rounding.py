"""Controlled rounding: a real table whose sums hold made whole, every value up or down by less than one.

Kept exactly     each place is the sum of its children in every cell
Floor or ceiling every cell of every place; at the top and in every leaf also the sum of the first 1, 2, … cells of the
                 place, its total included
Least            ∑ |x − real| over all places and cells, which is also the least ∑ (x − real)²

Tree sums per cell and first sums of the top are one laminar family of sets of (leaf, cell); first sums of the leaves
are a second.  Two laminar families make a network, so whole solutions exist and one min-cost flow over the whole tree
finds the best (docs/proofs/release/fit/rounding.md; for two-way tables Causey, Cox & Ernst 1985).  First sums of places
between the top and the leaves cannot be kept too: some tables have no such rounding.  Nor is the tree rounded parent by
parent: a parent rounded well may leave its children no rounding at all.  Ties fall as the flow solver breaks them, a
function of the table alone.

With one cell the flow is a tree, and two states for each place are enough: see `_one_cell`.
"""

from dataclasses import dataclass

import numpy as np

from discreet.errors import BadValue, bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.check import NEAR, allowed_places, by_level
from discreet.release.fit.duals import projection
from discreet.release.tree import Tree, of_children, tree_sums

PARTS = 2**20  # costs are whole numbers of these parts of one
LARGEST = 2.0**40
_NEVER = 2**60
_MARGIN = 2.0**-10  # a fraction nearer to a whole number is not moved: a share could step over it


def fit(
    tree: Tree,
    noisy: Ints,
    weights: Ints,
    *,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
) -> Ints:
    """The nearest real table, rounded: a `Fit`.

    Leaves are split into whole parts and fractions, and only the fractions are rounded: their sums are as exact as
    floats can be.  What they miss the total by is shared out.
    """
    real = projection(tree, noisy, weights, scale=scale, total=total, allowed=allowed)[tree.leaves]
    below = np.floor(real).astype(np.int64)
    fractions = real - below
    inner = (fractions > _MARGIN) & (fractions < 1 - _MARGIN)
    if total is not None and inner.any():
        fractions[inner] += (total - int(below.sum()) - fractions.sum()) / inner.sum()
    return tree_sums(tree, below) + rounded(tree, tree_sums(tree, fractions), allowed=allowed)


@dataclass(frozen=True, eq=False)
class Bounds:
    """The whole number below, whether the one above is open too, and what going up costs in 1/2²⁰: 1 − 2·fraction."""

    floor: Ints
    open: Bools
    cost: Ints


def rounded(tree: Tree, table: Floats, *, allowed: Bools | None = None) -> Ints:
    """The controlled rounding of a table whose sums hold to 10⁻⁶; what is within 10⁻⁶ of a whole number becomes it.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> rounded(tree, np.array([[1.0, 1.2], [0.5, 0.6], [0.5, 0.6]])).sum(axis=0).tolist()
    [2, 2]
    """
    _require_consistent(tree, table, allowed)
    bounds = bounds_of(table)
    up = _one_cell(tree, bounds) if table.shape[1] == 1 else _by_flow(tree, table, bounds)
    whole = bounds.floor + up
    if np.any(up & ~bounds.open) or any(violations.sums for violations in by_level(tree, whole)):
        raise _too_far()
    return whole


def bounds_of(real: Floats) -> Bounds:
    """Floor and ceiling of each number; one number only where it is within 10⁻⁶ of a whole one."""
    floor = np.floor(real + NEAR)
    is_open = np.ceil(real - NEAR) > floor
    cost = PARTS - 2 * np.round((real - floor) * PARTS).astype(np.int64)
    return Bounds(floor.astype(np.int64), is_open, np.where(is_open, cost, 0))


# --- one cell: a tree of two states ----------------------------------------------------------------------------------


def _one_cell(tree: Tree, bounds: Bounds) -> Bools:
    """Which places go up, for tables of one column, in O(places·log children); of equals the lower numbers.

    extra = what going up costs a place and all below it: ∞ if it cannot, −∞ if it must.  With `needed` the number of
    children that go up if their parent goes down, a parent that goes up takes one child more, the next cheapest:
    extra = own cost + the (needed + 1)-th smallest extra of the children.
    """
    floor, is_open = bounds.floor[:, 0], bounds.open[:, 0]
    extra = np.where(is_open, bounds.cost[:, 0], _NEVER)
    rank, needed = np.zeros(len(tree), dtype=np.int64), np.zeros(len(tree), dtype=np.int64)
    for tree_level in reversed(range(tree.depth - 1)):
        here, under = tree.places(tree_level), tree.places(tree_level + 1)
        inner = np.flatnonzero(np.diff(tree.child[here.start : here.stop + 1])) + here.start
        order = under.start + np.lexsort((extra[under], tree.parent[under]))
        rank[order] = np.arange(under.start, under.stop) - tree.child[tree.parent[order]]
        below, must, can = (
            of_children(tree, column, tree_level)[inner - here.start].astype(np.int64)
            for column in (floor, (extra == -_NEVER).astype(np.int64), (extra < _NEVER).astype(np.int64))
        )
        needed[inner] = floor[inner] - below
        down = (must <= needed[inner]) & (needed[inner] <= can)
        up = is_open[inner] & (must <= needed[inner] + 1) & (needed[inner] + 1 <= can)
        following = np.where(down & up, tree.child[inner] + needed[inner], under.start) - under.start
        both = extra[inner] + extra[order][following]
        extra[inner] = np.where(down & up, both, np.where(up, -_NEVER, _NEVER))
    goes_up = np.zeros(len(tree), dtype=np.bool_)
    goes_up[0] = extra[0] < 0
    for tree_level in range(1, tree.depth):
        under = tree.places(tree_level)
        goes_up[under] = rank[under] < (needed + goes_up)[tree.parent[under]]
    return goes_up[:, None]


# --- many cells: a flow ----------------------------------------------------------------------------------------------


def _by_flow(tree: Tree, table: Floats, bounds: Bounds) -> Bools:
    """Which cells go up.  Nodes: (place, cell) for the places between top and leaves and the first cells of the top and
    of each leaf; 0 is where it all ends and starts again.  A floor is sent beforehand: what is left is 0 or 1 an arc.

        top      0 → first S cells → … → first 2 cells → first cell,   first s cells → cell s of the top
        tree     (parent, s) → (place, s)
        leaf     (parent, s) → first s cells → first s + 1 cells → … → first S cells → 0
    """
    places, cells = table.shape
    numbers = 1 + np.arange((places + 1) * cells).reshape(places + 1, cells)
    top, heads = numbers[0], numbers[1:]
    tails = heads[tree.parent]
    tails[0] = top
    leaves = tree.leaves
    first_leaf, first_top = bounds_of(np.cumsum(table[leaves], axis=1)), bounds_of(np.cumsum(table[0]))
    after = np.zeros((len(leaves), cells), dtype=np.int64)
    after[:, :-1] = heads[leaves, 1:]
    before = np.append(top[1:], 0)
    arcs = [
        (tails, heads, bounds),
        (heads[leaves], after, first_leaf),
        (before, top, first_top),
    ]
    supply = np.zeros((places + 1) * cells + 1, dtype=np.int64)
    for tail, head, bound in arcs:
        np.add.at(supply, head.ravel(), bound.floor.ravel())
        np.subtract.at(supply, tail.ravel(), bound.floor.ravel())
    flows = _flows([_open_arcs(*arc) for arc in arcs], supply)
    up = np.zeros(table.shape, dtype=np.bool_)
    up[bounds.open] = flows[: int(bounds.open.sum())] > 0
    return up


def _open_arcs(tails: Ints, heads: Ints, bounds: Bounds) -> tuple[Ints, Ints, Ints]:
    return tails[bounds.open], heads[bounds.open], bounds.cost[bounds.open]


def _flows(arcs: list[tuple[Ints, Ints, Ints]], supply: Ints) -> Ints:
    """The cheapest flow of at most 1 on each arc; the cost of first sums is none."""
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow  # type: ignore[import-untyped, unused-ignore]

    tails, heads, costs = (np.concatenate(part) for part in zip(*arcs, strict=True))
    costs[len(arcs[0][0]) :] = 0
    solver = SimpleMinCostFlow()
    numbers = solver.add_arcs_with_capacity_and_unit_cost(
        tails.astype(np.int32), heads.astype(np.int32), np.ones(len(tails), dtype=np.int64), costs
    )
    solver.set_nodes_supplies(np.arange(len(supply), dtype=np.int32), supply)
    if solver.solve() != solver.OPTIMAL:
        raise _too_far()
    return np.asarray(solver.flows(numbers), dtype=np.int64)


# --- what may be given -----------------------------------------------------------------------------------------------


def _require_consistent(tree: Tree, table: Floats, allowed: Bools | None) -> None:
    if table.ndim != 2 or table.shape[0] != len(tree) or not table.shape[1] or table.dtype != np.float64:
        what = f"must be float64 with a row for each of the {len(tree)} places and one column or more"
        raise bad(
            "table", what, (table.dtype.name, table.shape), "Give a row for each place, in the order of the tree."
        )
    if (table.size + table.shape[1]) >= 2**31:
        raise bad("table", "must have fewer than 2^31 cells to be rounded", table.shape, "Round each subtree alone.")
    if not np.all(np.abs(table) <= LARGEST):
        wrong = int(np.sum(~(np.abs(table) <= LARGEST)))
        raise bad("table", "must hold finite numbers up to 2^40", f"{wrong} that are not", "Give counts.")
    broken = by_level(tree, table, allowed=None)
    if any(level.sums for level in broken):
        wrong = sum(level.sums for level in broken)
        raise bad("table", "must have sums that hold to 0.000001", f"{wrong} that do not", "Fit it to the tree first.")
    possible = allowed_places(tree, table.shape[1], allowed)
    if possible is not None and np.any(np.abs(table[~possible]) > NEAR):
        wrong = int(np.sum(np.abs(table[~possible]) > NEAR))
        raise bad("table", "must be 0 where not allowed", f"{wrong} that are not", "Fit it with these allowed cells.")


def _too_far() -> BadValue:
    what = "must have sums that hold far better than one in all places together"
    return bad("table", what, "a table whose small gaps add up to one", "Fit it to the tree more exactly.")
