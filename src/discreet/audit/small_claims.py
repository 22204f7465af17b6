"""Claims of small databases, on neighbouring tables: both relations, units of several rows, cells that look alike."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.audit.brute import one_row_more, one_row_other
from discreet.audit.claim import EPSILONS, Claim
from discreet.audit.small_tables import SmallTables
from discreet.audit.trial import Pair
from discreet.relation import Relation
from discreet.synth.small.selection import selection_of

_RUNS = 5_000  # each is a whole database
_ADD, _REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
_SIDES = np.array([[0, 1, 1], [1, 0, 1]], dtype=np.bool_)  # queries × cells
_BITS = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], dtype=np.bool_)
_ALIKE = np.array([[0, 0, 1, 1]], dtype=np.bool_)
_REPLACED: tuple[Pair, ...] = (
    ((10, 10, 10, 10), (11, 9, 10, 10)),
    ((40, 0, 0, 0), (39, 0, 0, 1)),  # a row alone in its cell
    ((0, 20, 20, 0), (0, 19, 20, 1)),
    ((0, 0, 0, 40), (1, 0, 0, 39)),
)
_ENTERED: tuple[Pair, ...] = (
    ((0, 0, 0, 0), (1, 0, 0, 0)),  # a first row of all
    ((10, 10, 10, 10), (10, 10, 10, 11)),  # one more than the public number
    ((0, 0, 39, 0), (0, 0, 40, 0)),
    ((90, 0, 0, 0), (91, 0, 0, 0)),  # far more
)


def family() -> Iterator[Claim]:
    """All claims of this module; their names begin with small-database."""
    world = tuple(one_row_other(3, 4))
    for e in EPSILONS:
        yield Claim(f"small-database-{e}", SmallTables, _mechanism(_BITS, e, 40, 3), _REPLACED, (), _RUNS)
        yield Claim(f"small-database-few-{e}", SmallTables, _mechanism(_SIDES, e, 4, 3), _few(), world, _RUNS)
    entered = tuple(one_row_more(3, 5))  # of tables that have fewer rows than the public four, as many, and more
    few = _mechanism(_SIDES, 1, 4, 3, relation=_ADD)
    yield Claim("small-database-add-remove", SmallTables, few, entered[:4], entered, _RUNS)
    many = _mechanism(_BITS, 2, 40, 4, relation=_ADD)
    yield Claim("small-database-other-rows", SmallTables, many, _ENTERED, (), _RUNS)
    alike = _mechanism(_ALIKE, 2, 4, 3)
    yield Claim("small-database-cells-alike", SmallTables, alike, _alike(), tuple(one_row_other(4, 3)), _RUNS)
    double = _mechanism(_SIDES, 2, 5, 2, unit_rows=2)
    yield Claim("small-database-two-rows", SmallTables, double, two_rows_other()[:4], two_rows_other(), _RUNS)


def two_rows_other() -> tuple[Pair, ...]:
    """Five rows in three cells, of which two leave one cell for another."""
    tables = [(a, b, 5 - a - b) for a in range(6) for b in range(6 - a)]
    moves = ((-2, 2, 0), (-2, 0, 2), (0, -2, 2))
    moved = [
        (table, tuple(n + step for n, step in zip(table, move, strict=True))) for table in tables for move in moves
    ]
    return tuple((table, other) for table, other in moved if min(other) >= 0)


def _few() -> tuple[Pair, ...]:
    return ((4, 0, 0), (3, 1, 0)), ((0, 0, 4), (0, 1, 3)), ((2, 2, 0), (2, 1, 1)), ((1, 1, 2), (2, 1, 1))


def _alike() -> tuple[Pair, ...]:
    """A row goes to a cell that no query tells apart from its own, or to another."""
    return ((4, 0, 0, 0), (3, 1, 0, 0)), ((4, 0, 0, 0), (3, 0, 0, 1)), ((1, 1, 1, 1), (0, 1, 1, 2))


def _mechanism(
    truths: Any, epsilon: Any, rows: int, size: int, *, unit_rows: int = 1, relation: Relation = _REPLACE
) -> SmallTables:
    chosen = selection_of(truths, epsilon=epsilon, public_rows=rows, size=size, unit_rows=unit_rows, relation=relation)
    return SmallTables(chosen)
