"""The baseline: the real program of duals.py given to a general solver, each value then rounded on its own.

Rounding breaks sums: of k children with fractions the errors of rounding add up to about √(k/12).  This is the relaxed
mechanism that Fioretto, Van Hentenryck & Zhu 2021 compare their dynamic program with; it is here to be compared with.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.fit.duals import FitInput, fit_input
from discreet.release.tree import Tree, of_children

SOLVERS = ("OSQP", "CLARABEL")


def fitted(
    tree: Tree,
    noisy: ArrayLike,
    weights: ArrayLike,
    *,
    scale: int = 1,
    total: int | None = None,
    solver: str = "CLARABEL",
    allowed: Bools | None = None,
    **settings: Any,
) -> tuple[Floats, Ints]:
    """The solver's table, and the same with every value rounded (negative ones to 0); `settings` go to the solver.

    >>> from discreet.release.tree import from_edges
    >>> real, rounded = fitted(from_edges([("US", "GA"), ("US", "MI")]), [[2], [4], [2]], [1, 1, 1])
    >>> real.round(4).tolist(), rounded.tolist(), broken_sums(from_edges([("US", "GA"), ("US", "MI")]), rounded)
    ([[3.3333], [2.6667], [0.6667]], [[3], [3], [1]], 1)
    """
    if solver not in SOLVERS:
        raise bad("solver", f"must be one of {', '.join(SOLVERS)}", solver, "Give one of these names.")
    given = fit_input(tree, noisy, weights, scale=scale, total=total, allowed=allowed)
    problem, unknown = program(given)
    problem.solve(solver=solver, **settings)
    if unknown.value is None:
        raise bad("settings", "must let the solver find a table", problem.status, "Allow more steps.")
    real = np.asarray(unknown.value, dtype=np.float64).reshape(given.noisy.shape)
    return real, np.maximum(0, np.rint(real)).astype(np.int64)


def program(given: FitInput) -> tuple[Any, Any]:
    """One unknown for each place and cell, one equation for each sum."""
    import cvxpy

    tool: Any = cvxpy  # its functions are not all typed
    cells = given.noisy.shape[1]
    unknown = tool.Variable(given.noisy.size)
    counts = given.noisy.ravel() / given.scale
    root = np.repeat(np.sqrt(given.weights), cells)
    rules = [unknown >= 0]
    if len(given.tree) > 1:
        rules.append(sums(given) @ unknown == 0)
    if not given.free.all():
        rules.append(unknown[np.flatnonzero(~given.free)] == 0)
    if given.total is not None:
        rules.append(tool.sum(unknown[:cells]) == given.total)
    far = tool.multiply(root, unknown) - root * counts
    return tool.Problem(tool.Minimize(tool.sum_squares(far)), rules), unknown


def sums(given: FitInput) -> Any:
    """The sparse matrix with a row for each place that has children and each cell: −1 there, 1 at the children."""
    from scipy import sparse

    slot, cells, places = given.slot, given.noisy.shape[1], len(given.tree)
    inner = np.flatnonzero(slot >= 0)
    row = np.concatenate([slot[inner], slot[given.tree.parent[1:]]])
    column = np.concatenate([inner, np.arange(1, places)])
    sign = np.concatenate([-np.ones(len(inner)), np.ones(places - 1)])
    shape = (len(inner), places)
    return sparse.kron(sparse.coo_array((sign, (row, column)), shape=shape), sparse.eye_array(cells), format="csc")


def broken_sums(tree: Tree, table: Ints, total: int | None = None) -> int:
    """How many sums of a table do not hold, of all places with children and all cells, and the total at the top.

    >>> from discreet.release.tree import from_edges
    >>> broken_sums(from_edges([("US", "GA"), ("US", "MI")]), np.array([[3, 1], [2, 1], [0, 0]]), total=5)
    2
    """
    broken = 0 if total is None else int(table[0].sum() != total)
    for level in range(tree.depth - 1):
        inner = np.diff(tree.child)[tree.places(level)] > 0
        broken += int(np.count_nonzero((of_children(tree, table, level) != table[tree.places(level)])[inner]))
    return broken
