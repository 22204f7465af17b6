"""Whole tables that add up over the tree where the number of units of every leaf is public.

    arg min ∑_r w_r ∑ₛ (x_{r,s} − ñ_{r,s})²   x ≥ 0,  x_{parent} = ∑ x_{child} per cell s,  ∑ₛ x_{leaf,s} = t_leaf

1. In real numbers: Dykstra's method between the tree (`leastsquares.consistent`) and the simplex of every place.
2. In whole numbers, from the top down: the row of the top, then for each parent the rows of its children, by least-cost
   flow, with every total and every sum exact.  A solution exists at each step whatever the steps above it
   chose, with structural zeros too (docs/proofs/release/fit/leaf_totals.md).

Each step of 2 is the best in whole numbers for its parent.  Together they need not be the best of the whole tree; the
last level is, given the one above it.  Ties fall as the flow solver breaks them, a function of the input alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.fit.cumulative import totals_of
from discreet.release.fit.isotonic import LARGEST
from discreet.release.fit.joint import dykstra
from discreet.release.leastsquares import Pass, consistent, require_weights, shares
from discreet.release.tree import Tree, tree_sums

FINEST = 1024  # parts of a unit in which real targets, and weights of unequal siblings, enter the flows
MOST_SCALE = 2**20
BATCH = 1024  # cells of children settled by one flow
MOST_COST = 2**60
COARSER = 4  # how much longer a step is than the next
SWEEPS, TOLERANCE = 200, 0.01  # a poor real fit makes wide windows, which cost more than sweeps


@dataclass(frozen=True, eq=False)
class Supply:
    """How many units of a place lie in leaves that allow the cells of a pattern, where there are any; by place."""

    place: Ints
    pattern: Ints
    units: Ints
    patterns: Bools


@dataclass(frozen=True, eq=False)
class FitTarget:
    """What every row should be near to, in parts of a unit; how much that counts; and a real row to look around."""

    targets: Ints
    gains: Ints
    starts: Floats
    parts: int


def fit(
    tree: Tree,
    noisy: Ints,
    weights: Ints,
    *,
    leaf_totals: Ints,
    scale: int = 1,
    total: int | None = None,
    allowed: Bools | None = None,
) -> Ints:
    """The whole table near noisy/scale in which each leaf sums to its public total: a `Fit`.

    `total` changes nothing: the leaves' totals determine it.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> noisy = np.array([[4, 2, 0], [3, -2, 1], [1, 4, 0]])
    >>> fit(tree, noisy, np.array([1, 1, 1]), leaf_totals=np.array([2, 4])).tolist()
    [[3, 3, 0], [2, 0, 0], [1, 3, 0]]
    """
    totals = _checked_totals(tree, noisy, leaf_totals, scale)
    require_weights(tree, weights)
    open_cells = _open_cells(tree, noisy.shape[1], totals, allowed)
    shared = shares(tree, weights.astype(np.float64))
    real = _real(tree, noisy / scale, totals, open_cells, shared)
    target = _fit_target(tree, noisy, weights, scale, real, 1 / shared.below[:, 0])
    return _table_from_top(tree, target, _supply(tree, totals, open_cells))


def _table_from_top(tree: Tree, target: FitTarget, supply: Supply) -> Ints:
    """The whole table, from the top down, a batch of parents of one level at a time."""
    table = np.zeros_like(target.targets)
    table[:1] = _best_rows(target, supply, slice(0, 1), np.zeros(1, dtype=np.int64), None)
    children = np.diff(tree.child)
    for tree_level in range(tree.depth - 1):
        inner = int(tree.first[tree_level]) + np.flatnonzero(children[tree.places(tree_level)] > 0)
        filled = np.cumsum(children[inner] * table.shape[1]) // BATCH
        for parents in np.split(inner, np.flatnonzero(np.diff(filled)) + 1):
            rows = slice(int(tree.child[parents[0]]), int(tree.child[parents[-1] + 1]))
            groups = np.searchsorted(parents, tree.parent[rows])
            table[rows] = _best_rows(target, supply, rows, groups, table[parents])
    return table


# --- one step: the rows of some places, given the sums they must have -----------------------------------------------


def _best_rows(target: FitTarget, supply: Supply, rows: slice, groups: Ints, columns: Ints | None) -> Ints:
    """The rows of least cost ∑ gain·(parts·z − target)²/parts, z ≥ 0 whole, whose group g adds up to columns[g].

    Looked for in a window around a start, by single units.  Outside it the cost goes on in a straight line, which never
    exceeds it: a solution inside the window is therefore the best of all.  Else steps grow until the window holds the
    solution, and shrink again around each that was found (the scaling of convex flows, Minoux 1986): the number of
    flows grows with the logarithm of how far the start was.
    """

    def solve(start: Ints, step: int, width: int) -> tuple[Ints, bool]:
        """The solution, cut to its window, and whether it lay there."""
        low = np.maximum(0, start - width * step)
        high = low + step * -(-(start + (1 + width) * step - low) // step)
        values = _flow(target, supply, rows, groups, columns, Window(low, high, step))
        clipped = np.clip(values, low, high)
        return clipped, np.array_equal(clipped, values)

    start, step, width = np.floor(_start(target, rows, groups, columns)).astype(np.int64), 1, 1
    values, inside = solve(start, step, width)
    while not inside:
        step *= COARSER
        values, inside = solve(start, step, width)
    while step > 1 or not inside:
        step, width = (step // COARSER, COARSER) if inside else (step, 2 * width)
        values, inside = solve(values, step, width)
    return values


class Window(NamedTuple):
    """Where the cost is followed step by step: from low to high, a whole number of steps apart."""

    low: Ints
    high: Ints
    step: int


def _start(target: FitTarget, rows: slice, groups: Ints, columns: Ints | None) -> Floats:
    """The real rows, moved so that each group has its sums, as far as they stay ≥ 0."""
    real = target.starts[rows]
    if columns is None:
        return real
    short, spread = columns.astype(np.float64), np.zeros(len(columns))
    np.subtract.at(short, groups, real)
    np.add.at(spread, groups, 1 / target.gains[rows])
    share = 1 / (target.gains[rows] * spread[groups])
    return np.maximum(0, real + share[:, None] * short[groups])


def _flow(target: FitTarget, supply: Supply, rows: slice, groups: Ints, columns: Ints | None, window: Window) -> Ints:
    """Nodes: one for each (place, pattern) with its units, one for each (place, cell), one for each (group, cell) with
    the sum it must have; without such sums one for all.  A unit goes place → cell allowed by its pattern → sum."""
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow  # type: ignore[import-untyped]

    first, last = np.searchsorted(supply.place, [rows.start, rows.stop])
    owner, units = supply.place[first:last] - rows.start, supply.units[first:last]
    count, cells = window.low.shape
    sums = groups[:, None] * cells + np.arange(cells) if columns is not None else np.zeros((count, cells), np.int64)
    needs = columns.ravel() if columns is not None else units.sum(keepdims=True)
    base = len(units) + count * cells  # of the sums' nodes
    totals = np.bincount(owner, weights=units, minlength=count).astype(np.int64)
    arcs = _steps(target, rows, window, totals, MOST_COST // (base + len(needs) + 1))
    solver = SimpleMinCostFlow()
    source, cell = np.nonzero(supply.patterns[supply.pattern[first:last]])
    entered = len(units) + owner[source] * cells + cell
    solver.add_arcs_with_capacity_and_unit_cost(source, entered, units[source], np.zeros(len(source), np.int64))
    priced = solver.add_arcs_with_capacity_and_unit_cost(
        len(units) + arcs.entry, base + sums.ravel()[arcs.entry], arcs.room, arcs.costs
    )
    solver.set_nodes_supplies(np.arange(len(units)), units)
    solver.set_nodes_supplies(base + np.arange(len(needs)), -needs)
    if solver.solve() != solver.OPTIMAL:
        raise bad("weights", "must leave the flow's costs in range", None, "Divide the weights by a common factor.")
    values = np.bincount(arcs.entry, weights=solver.flows(priced), minlength=count * cells)
    return values.astype(np.int64).reshape(count, cells)


class Arcs(NamedTuple):
    """Steps that raise an entry: which entry, by how much at most, at what cost for each unit."""

    entry: Ints
    room: Ints
    costs: Ints


def _steps(target: FitTarget, rows: slice, window: Window, totals: Ints, steepest_cost: int) -> Arcs:
    """From 0 to low at the price of the last unit of it, then step by step, from high on at the price of the next unit.

    Raising z to z + d costs gain·(parts·(2z + d) − 2·target) a unit, cut at ±`most`: so far from every target that 64
    bits do not hold it, as where public totals are far from what was measured, all units cost the same; sums hold.
    """
    low, high, step = window
    gains, targets = target.gains[rows, None], target.targets[rows]
    steepest = steepest_cost // gains

    def cost(value: Ints, more: int) -> Ints:
        slope = target.parts * (2 * value + more) - 2 * targets
        return np.asarray(gains * np.clip(slope, -steepest, steepest), dtype=np.int64).ravel()

    width = int(((high - low) // step).max(initial=1))
    entries_at = low[..., None] + step * np.arange(width)
    inside = (entries_at < high[..., None]).reshape(-1, width)
    entries = np.arange(low.size)
    step_costs = np.stack([cost(entries_at[..., number], step) for number in range(width)], axis=1)
    below, above = low.ravel(), np.maximum(0, totals[:, None] - high).ravel()
    entry = np.concatenate([entries[below > 0], np.repeat(entries, width)[inside.ravel()], entries[above > 0]])
    room = np.concatenate([below[below > 0], np.full(int(inside.sum()), step), above[above > 0]])
    costs = np.concatenate([cost(low - 1, 1)[below > 0], step_costs[inside], cost(high, 1)[above > 0]])
    return Arcs(entry, room, costs)


# --- what the steps need -------------------------------------------------------------------------------------------


def _real(tree: Tree, measured: Floats, totals: Ints, open_cells: Bools, shared: Pass) -> Floats:
    """The real table near the best one: in the simplex of every place, the tree's sums within the tolerance."""
    from discreet.release.fit.kernels.isotonic import on_simplex

    ends = totals.astype(np.float64)

    def onto_simplices(table: Floats) -> Floats:
        fits = np.empty_like(table)
        on_simplex(table, open_cells, ends, fits)
        return fits

    def onto_tree(table: Floats) -> Floats:
        return consistent(shared, table)

    return dykstra(measured, onto_tree, onto_simplices, SWEEPS, TOLERANCE)


def _fit_target(tree: Tree, noisy: Ints, weights: Ints, scale: int, real: Floats, precision: Floats) -> FitTarget:
    """A leaf is to be near its noisy row, by its weight; a place with children near its real fit, by its precision,
    which sums up what it and the places below it say."""
    parts = scale * -(-FINEST // scale)
    inner = np.diff(tree.child) > 0
    targets = noisy * (parts // scale)
    targets[inner] = np.rint(real[inner] * parts).astype(np.int64)
    gains = np.ones_like(weights)
    for parent in np.flatnonzero(inner):
        rows = slice(int(tree.child[parent]), int(tree.child[parent + 1]))
        if inner[rows].any():
            fine = np.rint(precision[rows] / precision[rows].max() * FINEST)
            gains[rows] = np.maximum(1, fine).astype(np.int64)
        else:
            gains[rows] = weights[rows] // np.gcd.reduce(weights[rows])
    return FitTarget(targets, gains, real, parts)


def _supply(tree: Tree, totals: Ints, open_cells: Bools) -> Supply:
    """The units of every place by the pattern of the leaf they lie in, added up level by level."""
    patterns, which = np.unique(open_cells[tree.leaves], axis=0, return_inverse=True)
    kinds, level_of = len(patterns), tree.level[tree.leaves]
    own, units = tree.leaves * kinds + which.ravel(), totals[tree.leaves]
    keys, amounts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    units_by_level: list[tuple[Ints, Ints]] = []
    for tree_level in reversed(range(tree.depth)):
        leaves_here = level_of == tree_level
        above = tree.parent[keys // kinds] * kinds + keys % kinds
        keys, index = np.unique(np.concatenate([own[leaves_here], above]), return_inverse=True)
        amounts = _sums_by_index(index, np.concatenate([units[leaves_here], amounts]), len(keys))
        units_by_level.append((keys[amounts > 0], amounts[amounts > 0]))
    every = np.concatenate([keys for keys, _ in reversed(units_by_level)])
    return Supply(
        every // kinds, every % kinds, np.concatenate([units for _, units in reversed(units_by_level)]), patterns
    )


def _sums_by_index(index: Ints, amounts: Ints, count: int) -> Ints:
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, index, amounts)
    return sums


def _checked_totals(tree: Tree, noisy: Ints, leaf_totals: Ints, scale: int) -> Ints:
    """The totals of all places, if everything public about the table fits together."""
    if noisy.ndim != 2 or len(noisy) != len(tree) or not noisy.shape[1] or noisy.dtype != np.int64:
        what = f"must be whole numbers with a row for each of the {len(tree)} places"
        raise bad("noisy", what, (noisy.shape, str(noisy.dtype)), "Give what was measured.")
    if not (isinstance(scale, int) and 1 <= scale <= MOST_SCALE):
        raise bad("scale", "must be a whole number from 1 to 2²⁰", scale, "Use 1, or 1024 after a monotone fit.")
    if max(int(noisy.max()), -int(noisy.min())) > LARGEST * min(scale, FINEST):
        raise bad(
            "noisy",
            "must lie between −2⁴⁰ and 2⁴⁰ in units of the scale, up to 1/1,024",
            None,
            "Use less noise or count in larger units.",
        )
    return totals_of(tree, leaf_totals)


def _open_cells(tree: Tree, cells: int, totals: Ints, allowed: Bools | None) -> Bools:
    """Which cells of every place may hold something: those some leaf below it allows."""
    if allowed is None:
        return np.ones((len(tree), cells), dtype=np.bool_)
    if allowed.shape != (len(tree.leaves), cells) or allowed.dtype != np.bool_:
        what = f"must be True or False for each of {len(tree.leaves)} leaves and {cells} cells"
        raise bad("allowed", what, (allowed.shape, str(allowed.dtype)), "Give None if every cell may hold something.")
    stuck = (totals[tree.leaves] > 0) & ~allowed.any(axis=1)
    if stuck.any():
        name = tree.names[tree.leaves[int(np.argmax(stuck))]]
        raise bad("leaf_totals", "must be 0 where no cell is allowed", name, "Allow a cell, or set the total to 0.")
    return tree_sums(tree, allowed.astype(np.int64)).astype(np.bool_)
