"""The baseline: a general solver finds the real table, and rounding it breaks sums."""

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.release.fit import duals, integer
from discreet.release.tree import from_branches, from_edges
from release.cases import census
from release.fits import relaxed

SLIDE = from_edges([("US", "GA"), ("US", "MI")])


def slow_broken_sums(tree, table, total):
    broken = int(total is not None and sum(table[0].tolist()) != total)
    for place in range(len(tree)):
        children = [c for c in range(len(tree)) if tree.parent[c] == place]
        for cell in range(table.shape[1] if children else 0):
            broken += sum(int(table[c, cell]) for c in children) != table[place, cell]
    return broken


@pytest.mark.parametrize("solver", relaxed.SOLVERS)
@pytest.mark.parametrize("total", [None, "exact"])
def test_solvers_come_near_and_rounding_breaks_sums_that_the_integer_fit_keeps(solver, total):
    tree, exact, noisy = census(4, (1, 8, 400), cells=2)
    weights, total = np.ones(len(tree), int), None if total is None else int(exact[0].sum())
    real, rounded = relaxed.fitted(tree, noisy, weights, total=total, solver=solver)
    assert real == pytest.approx(duals.projection(tree, noisy, weights, total=total), abs=0.02)
    assert rounded.dtype == np.int64
    assert rounded.min() >= 0
    assert np.abs(rounded - real).max() <= 0.52
    broken = relaxed.broken_sums(tree, rounded, total)
    assert broken == slow_broken_sums(tree, rounded, total)
    assert broken > 5
    fit = integer.fit(tree, noisy, weights, total=total)
    assert relaxed.broken_sums(tree, fit, total) == slow_broken_sums(tree, fit, total) == 0


def test_one_place_closed_cells_and_parts_of_a_unit_are_fitted():
    single = from_branches(("x",), [("a",)])
    assert relaxed.fitted(single, [[5, -2]], [3])[1].tolist() == [[5, 0]]
    real, rounded = relaxed.fitted(
        SLIDE, [[2048], [5120], [1024]], [1, 1, 1], scale=1024, allowed=np.array([[False], [True]])
    )
    assert real == pytest.approx(np.array([[1.5], [0], [1.5]]), abs=1e-4)
    assert rounded[1, 0] == 0


def test_a_solver_that_is_not_there_is_refused():
    with pytest.raises(BadValue, match="solver must be one of OSQP, CLARABEL"):
        relaxed.fitted(SLIDE, [[2], [3], [0]], [1, 1, 1], solver="GUESS")
