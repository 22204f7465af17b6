"""Small trees, and every change that one unit can make to small tables over them.

A table has a row for each leaf and a column for each cell; here it is a tuple of tuples.  Pairs come from what a unit
can do, row by row, never from a norm, so they are neighbours whatever the norms are.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

from discreet.audit.brute import tables
from discreet.bounded import Sensitivity
from discreet.release.measure import Design, Form, Marginal, all_cells, marginal
from discreet.release.tree import Tree, from_branches

Table = tuple[tuple[int, ...], ...]
Change = tuple[Table, Table]
More = Callable[[Table, int], set[Table]]

# Leaves, in order: the region s, the wards n1, n2 and t1.
DEEP = from_branches(
    ("country", "region", "ward"), [("x", "n", "n1"), ("x", "n", "n2"), ("x", "s", ""), ("x", "t", "t1")]
)
FLAT = from_branches(("country", "ward"), [("x", "a"), ("x", "b")])
DEEP_SHARES = [[Fraction(1, 2)], [Fraction(1, 6)], [Fraction(1, 3)]]
FLAT_SHARES = [[Fraction(1, 4)], [Fraction(3, 4)]]
_SIX, _EIGHT, _FOUR = Fraction(1, 6), Fraction(1, 8), Fraction(1, 4)
VIEW_SHARES = [[Fraction(1, 12), _SIX, _FOUR], [_EIGHT, _EIGHT, _FOUR]]  # of age, sex and both
_AGE_SEX = ("age", "sex")
VIEWS = (*(marginal([name], _AGE_SEX, [2, 2]) for name in _AGE_SEX), all_cells(_AGE_SEX, 4))


def plain_design(tree: Tree, level: Sensitivity, cells: int = 1, views: tuple[Marginal, ...] = ()) -> Design:
    """Each cell by itself, in one view or several."""
    return Design(tree, Form.PLAIN, views or (all_cells(("cell",), cells),), level, level)


def empty_table(tree: Tree, cells: int) -> Table:
    """Nobody anywhere."""
    return ((0,) * cells,) * len(tree.leaves)


def small_tables(tree: Tree, cells: int, rows: int) -> list[Table]:
    """Every table of at most so many rows (or groups)."""
    return [
        tuple(flat[i : i + cells] for i in range(0, len(flat), cells))
        for flat in tables(len(tree.leaves) * cells, rows)
    ]


def tables_with_unit(table: Table, rows: int = 1) -> set[Table]:
    """The table with one unit more, of 1 to `rows` rows in any leaves and cells."""
    slots = list(product(range(len(table)), range(len(table[0]))))
    return {with_more(table, *s) for k in range(1, rows + 1) for s in combinations_with_replacement(slots, k)}


def tables_with_person(table: Table, rows: int = 1) -> set[Table]:
    """Groups by size with one person more, of 1 to `rows` rows: each row begins a group or joins one."""
    tables, longest = set(), {table}
    for _ in range(rows):
        longest = {longer for shorter in longest for longer in _tables_with_row(shorter)}
        tables |= longest
    return tables


def entering(start: Iterable[Table], more: More, rows: int = 1) -> tuple[Change, ...]:
    """Each table, and all that a unit more can make of it."""
    return tuple((table, larger) for table in start for larger in sorted(more(table, rows)) if larger != table)


def exchanging(start: Iterable[Table], more: More, rows: int = 1) -> tuple[Change, ...]:
    """All that two units can make of a table, each in the place of the other."""
    return tuple(pair for table in start for pair in combinations(sorted(more(table, rows)), 2))


def with_more(table: Table, *slots: tuple[int, int], by: int = 1) -> Table:
    """The table with as much more in each of the slots (leaf, cell)."""
    rows = [list(row) for row in table]
    for leaf, cell in slots:
        rows[leaf][cell] += by
    return tuple(map(tuple, rows))


def grown(table: Table, leaf: int, size: int) -> Table:
    """A person more in a group of that size: it leaves its size for the next; a group of size 0 begins."""
    without_group = with_more(table, (leaf, size - 1), by=-1) if size else table
    return with_more(without_group, (leaf, min(size, len(table[0]) - 1)))


def _tables_with_row(table: Table) -> set[Table]:
    slots = [
        (leaf, size) for leaf, row in enumerate(table) for size in range(len(row) + 1) if not size or row[size - 1]
    ]
    return {grown(table, leaf, size) for leaf, size in slots}
