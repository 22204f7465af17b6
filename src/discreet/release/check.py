"""Count what breaks a rule in a table, on every level.

sums       cells of an inner place that are not the sum of its children
signs      negative cells
fractions  cells that are not whole numbers
totals     the top place whose cells do not sum to the public total; leaves whose cells do not sum to theirs
zeros      cells that are not 0 where nothing can be
"""

from dataclasses import astuple, dataclass
from operator import add

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Bools, Floats, Ints
from discreet.release.leastsquares import require_size
from discreet.release.tree import Tree, of_children, tree_sums

NEAR = 1e-6
Table = Ints | Floats


@dataclass(frozen=True)
class Violations:
    """How often each rule is broken."""

    sums: int = 0
    signs: int = 0
    fractions: int = 0
    totals: int = 0
    zeros: int = 0

    @property
    def count(self) -> int:
        """All of them together; 0 if the table keeps every rule."""
        return sum(astuple(self))

    def __add__(self, other: "Violations") -> "Violations":
        return Violations(*map(add, astuple(self), astuple(other)))


def violations(
    tree: Tree,
    table: Table,
    *,
    total: int | None = None,
    leaf_totals: Ints | None = None,
    allowed: Bools | None = None,
) -> Violations:
    """The broken rules of the table; whole numbers are compared exactly, others to 10⁻⁶.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> violations(tree, np.array([[5], [7], [-1]]), total=5)
    Violations(sums=1, signs=1, fractions=0, totals=0, zeros=0)
    """
    broken = by_level(tree, table, total=total, leaf_totals=leaf_totals, allowed=allowed)
    return sum(broken, Violations())


def by_level(
    tree: Tree,
    table: Table,
    *,
    total: int | None = None,
    leaf_totals: Ints | None = None,
    allowed: Bools | None = None,
) -> tuple[Violations, ...]:
    """The broken rules of each level, from the top down; a sum counts on the level of the parent."""
    _require_table(tree, table)
    possible = allowed_places(tree, table.shape[1], allowed)
    with np.errstate(invalid="ignore"):  # ∞ − ∞: not near 0, so it is counted
        wrong_totals = _wrong_totals(tree, table.sum(axis=1), total, leaf_totals)
        return tuple(
            Violations(
                sums=_wrong_sums(tree, table, tree_level),
                signs=int(np.sum(table[rows] < 0)),
                fractions=int(np.sum(~(table[rows] == np.floor(table[rows])) | ~np.isfinite(table[rows]))),
                totals=int(np.sum(wrong_totals[rows])),
                zeros=0 if possible is None else int(np.sum((table[rows] != 0) & ~possible[rows])),
            )
            for tree_level, rows in ((tree_level, tree.places(tree_level)) for tree_level in range(tree.depth))
        )


def allowed_places(tree: Tree, cells: int, allowed: Bools | None) -> Bools | None:
    """For each place and cell whether it may be above 0: at a leaf as given, elsewhere if it may in some child."""
    if allowed is None:
        return None
    if allowed.shape != (len(tree.leaves), cells) or allowed.dtype != np.bool_:
        what = f"must be True or False for each of {len(tree.leaves)} leaves and {cells} cells"
        raise bad("allowed", what, (allowed.dtype.name, allowed.shape), "Give a row for each leaf, in their order.")
    return tree_sums(tree, allowed.astype(np.int64)) > 0


def require_reachable(total: int | None, top: Bools | None) -> None:
    """Refuses a total above 0 where no cell can hold anything."""
    if total and top is not None and not top.any():
        raise bad("total", "must be 0 where no cell is allowed", total, "Allow a cell in one leaf, or give 0.")


def _wrong_sums(tree: Tree, table: Table, tree_level: int) -> int:
    rows = tree.places(tree_level)
    inner = np.diff(tree.child[rows.start : rows.stop + 1]) > 0
    sums: Table = of_children(tree, table, tree_level)  # type: ignore[type-var]  # either of the two it takes
    return int(np.sum(~_same(sums, table[rows])[inner]))


def _wrong_totals(tree: Tree, sums: Table, total: int | None, leaf_totals: Ints | None) -> Bools:
    wrong = np.zeros(len(tree), dtype=np.bool_)
    if leaf_totals is not None:
        if leaf_totals.shape != tree.leaves.shape:
            what = f"must be {len(tree.leaves)} numbers, one for each leaf"
            raise bad("leaf_totals", what, leaf_totals.shape, "Give one for each leaf, in their order.")
        wrong[tree.leaves] = ~_same(sums[tree.leaves], leaf_totals)
    if total is not None:
        wrong[0] |= not _same(sums[:1], np.array([total]))[0]
    return wrong


def _same(left: NDArray[np.generic], right: NDArray[np.generic]) -> Bools:
    if np.issubdtype(left.dtype, np.integer) and np.issubdtype(right.dtype, np.integer):
        return np.asarray(left == right, dtype=np.bool_)
    return np.asarray(np.abs(left.astype(np.float64) - right.astype(np.float64)) <= NEAR, dtype=np.bool_)


def _require_table(tree: Tree, table: Table) -> None:
    if table.ndim != 2 or table.shape[0] != len(tree) or table.dtype not in (np.int64, np.float64):
        what = f"must be int64 or float64 with a row for each of the {len(tree)} places"
        fix = "Give a row for each place, in the order of the tree."
        raise bad("table", what, (table.dtype.name, table.shape), fix)
    if table.dtype == np.int64 and table.size:
        require_size("table", max(int(table.max()), -int(table.min())), max(table.shape))
