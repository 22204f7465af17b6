"""Every kernel that there is, by brute force: all rows over a few cells alone, in pairs, and repeated in one unit.

The gate compares a plan's sensitivity with a view's, and both call one formula.  Here it is compared with numbers.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.bounded import RowLimit, Sensitivity
from discreet.kernel.contract import KERNELS, kernel_of
from discreet.kernel.dense import dense_rows
from discreet.kernel.encode import design_of
from discreet.kernel.rows import UnitRows
from discreet.relation import Relation

NUMBER, CATEGORY, PAIR = {"low": 0, "high": 10}, {"size": 3}, {"size": 2}
NUMBERS, CODES, CLASSES = (0.0, 10.0, 3.7, math.nan), (-1, 0, 2), (0, 1)
ENCODED = {"features": [NUMBER, CATEGORY], "norm": Fraction(5, 4), "centre": np.array([0, 300, 512, -200, 0])}
SHARED = "marginals, of rows that share a weight"  # a second case of a kernel is named behind a comma
GROUPED = {
    "features": [{"edges": [0, 5, 10]}, {"rows_of_unit": 2}, CATEGORY, PAIR],
    "groups": [np.array(groups) for groups in ([0, 1, 2], [0, 1, 0], [1, 0, 2, 3], [0, 1, 1])],
    "cliques": [np.array(clique) for clique in ([0], [2, 0], [1, 2], [3, 2, 0], [0, 1, 2, 3])],
    "weights": np.array([60, 50, 7, 100, 20]),
}
CASES = {
    "risk": (
        ENCODED | {"loss": "softmax", "target": PAIR, "weights": np.array([9, -3, 0, 1, 0, -9, 3, 0, 0, 1]) * 2**20},
        [NUMBERS, CODES, CLASSES],
    ),
    "gram": (ENCODED | {"target": NUMBER, "balance": 6}, [NUMBERS, CODES, (0.0, 10.0, math.nan)]),
    "leaves": (
        {
            "features": [{"edges": [0, 5, 10]}, CATEGORY],
            "target": PAIR,
            "tests": np.array([[0, 1], [1, 1], [0, 0]]),
            "sides": np.array([[[0, 1, 1, 0], [0, 1, 0, 1]], [[0, 0, 1, 1], [1, 0, 1, 0]], [[0, 1, 0, 0]] * 2]),
        },
        [NUMBERS, CODES, CLASSES],
    ),
    "class_moments": ({"features": [NUMBER, CATEGORY], "target": PAIR}, [NUMBERS, CODES, CLASSES]),
    "marginals": (GROUPED, [NUMBERS, CODES, CLASSES]),
    SHARED: (GROUPED | {"each": "unit"}, [NUMBERS, CODES, CLASSES]),
}
COUNT_ROWS = (
    "risk",
    "gram",
    "leaves",
    "class_moments",
    "marginals",
    SHARED,
)  # whose parameters say how many rows of a unit count
MOST_ROWS = (1, 3)
REACHED = {Relation.ADD_REMOVE: 0.6, Relation.REPLACE_ONE: 0.35}


def rows_of(units):
    """Units, each a list of rows, as a kernel sees them; whole numbers are codes."""
    rows = [row for unit in units for row in unit]
    starts = np.cumsum([0, *map(len, units)])[:-1].astype(np.int64)
    columns = {f"x{place}": np.array([row[place] for row in rows]) for place in range(len(rows[0]))}
    return UnitRows(columns, starts, len(rows))


def kernel_in(case):
    """The kernel that a case is of."""
    return kernel_of(case.partition(",")[0])


def moves_of(kernel, rows):
    """What every unit adds, each once, with the parameters: one table of one unit at a time."""
    public, cells = CASES[kernel]
    public = public | {"rows": rows} if kernel in COUNT_ROWS else public
    single = list(product(*cells))
    units = [[row] for row in single]
    if rows > 1:
        units += [[row, other] for row in single for other in single[::5]]
        units += [[row] * (rows + extra) for row in single for extra in (0, 1)]
    moves = np.unique([kernel_in(kernel)(rows_of([unit]), public) for unit in units], axis=0)
    return public, moves


def changes_under(relation, moves):
    """What adding a unit changes, or putting each in the place of each other."""
    if relation is Relation.ADD_REMOVE:
        return moves
    longest = np.argsort((moves.astype(np.float64) ** 2).sum(axis=1))[-60:]
    return np.concatenate([moves - moves[place] for place in longest])


def exact_norms(change, relation):
    change = [abs(int(x)) for x in change]
    squares = sum(x * x for x in change)
    return Sensitivity(sum(x != 0 for x in change), sum(change), squares, max(change), relation)


def largest(changes, relation):
    """The changes that are largest by any norm, in whole numbers."""
    sizes = np.abs(changes.astype(np.float64))
    norms = [(sizes**2).sum(axis=1), sizes.sum(axis=1), sizes.max(axis=1), (sizes > 0).sum(axis=1)]
    return [exact_norms(changes[place], relation) for norm in norms for place in np.argsort(norm)[-3:]]


def test_every_kernel_has_a_case():
    assert {case.partition(",")[0] for case in CASES} == KERNELS.keys()


@pytest.mark.parametrize("max_rows", MOST_ROWS)
@pytest.mark.parametrize("kernel", CASES)
def test_no_unit_of_a_small_world_moves_a_kernel_further_than_it_says(kernel, max_rows):
    public, moves = moves_of(kernel, max_rows)
    for relation in Relation:
        stated = kernel_in(kernel).sensitivity(public, RowLimit(max_rows + 1, relation))
        moved = largest(changes_under(relation, moves), relation)
        assert all(map(stated.covers, moved)), (relation, stated)
        assert max(change.l2_squared for change in moved) > REACHED[relation] * stated.l2_squared


@pytest.mark.parametrize("norm", ["l0", "l1", "l2_squared", "linf"])
@pytest.mark.parametrize("kernel", COUNT_ROWS)
def test_a_formula_that_is_wrong_on_both_sides_of_the_gate_is_caught(kernel, norm):
    """A third of one norm would pass the gate, which asks the same formula for the plan and for the view."""
    public, moves = moves_of(kernel, 3)
    stated = kernel_in(kernel).sensitivity(public, RowLimit(4, Relation.ADD_REMOVE))
    norms = {name: getattr(stated, name) for name in ("l0", "l1", "l2_squared", "linf")}
    wrong = Sensitivity(*(norms | {norm: norms[norm] / 3}).values())
    moved = largest(changes_under(Relation.ADD_REMOVE, moves), Relation.ADD_REMOVE)
    assert not all(map(wrong.covers, moved))


def test_dense_rows_are_those_that_codes_and_crossed_cells_stand_for():
    """x·w of each row and the sums of columns, by the matrix and by look-ups."""
    public = {
        "features": [CATEGORY, NUMBER, PAIR, {"edges": [0, 5, 10]}],
        "norm": 4,
        "centre": np.array([7, -5, 0, 512, 3, 100, 0, 1, -1]),
        "rows": 3,
    }
    rows = list(product(CODES, NUMBERS, (-1, 0, 1), NUMBERS))
    design = design_of(rows_of([[row] for row in rows]), public, [f"x{place}" for place in range(4)])
    matrix, weights = dense_rows(design, slice(None)), np.arange(-4, 5) * 1000
    assert len(design.crossed) == 1
    assert (matrix @ weights == design.lines(weights)).all()
    factors = np.arange(len(rows)) % 17 - 8.0
    assert (matrix.T @ factors == design.sums(factors)).all()
    assert (dense_rows(design, slice(5, 9)) == matrix[5:9]).all()
