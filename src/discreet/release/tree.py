"""Public trees of places.  Places are numbered from the top, level by level; the children of a place are adjacent.

    places of level l     first[l] … first[l+1] − 1
    children of place i   child[i] … child[i+1] − 1;  a leaf has none, and may lie on any level

A table over a tree is an array with a row for each place and a column for each cell of a place (a size, an age group).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Floats, Ints

Numbers = TypeVar("Numbers", Ints, Floats)
MOST_LEVELS = 200
_FIX = "Give one line for each lowest place, with its name on every level from the top down."


@dataclass(frozen=True, eq=False)
class Tree:
    """Names of the levels, names of the places, the parent of each (−1 for the one at the top)."""

    levels: tuple[str, ...]
    names: tuple[str, ...]
    parent: Ints
    first: Ints
    child: Ints

    def __len__(self) -> int:
        return len(self.names)

    @property
    def depth(self) -> int:
        """The number of levels; one unit is in at most so many counts."""
        return len(self.levels)

    @cached_property
    def level(self) -> Ints:
        """The level of each place, 0 at the top."""
        return np.repeat(np.arange(self.depth), np.diff(self.first))

    @cached_property
    def leaves(self) -> Ints:
        """The places without children, in their order."""
        return np.flatnonzero(np.diff(self.child) == 0)

    def places(self, tree_level: int) -> slice:
        """The rows of a level."""
        return slice(int(self.first[tree_level]), int(self.first[tree_level + 1]))

    def path(self, place: int) -> tuple[str, ...]:
        """The names from the top down to the place."""
        names = []
        while place >= 0:
            names.append(self.names[place])
            place = int(self.parent[place])
        return tuple(reversed(names))


def from_branches(levels: Sequence[str], branches: Iterable[Sequence[str]]) -> Tree:
    """The tree whose leaves are these branches, each with a name for every level.

    Names left empty at the end of a branch put its leaf on a higher level.  Several tops get one place above them all,
    called `all`.

    >>> tree = from_branches(("country", "city"), [("fr", "paris"), ("no", "oslo"), ("no", "bergen")])
    >>> tree.names, tree.parent.tolist()
    (('all', 'fr', 'no', 'paris', 'bergen', 'oslo'), [-1, 0, 0, 1, 2, 2])
    """
    rows = [tuple(branch) for branch in branches]
    if not rows or not levels:
        raise bad("tree", "must have at least one level and one branch", len(rows), _FIX)
    if any(len(row) != len(levels) for row in rows):
        raise bad("tree", f"must name all {len(levels)} levels on each branch", None, _FIX)
    if len({row[0] for row in rows}) > 1:
        levels, rows = ("all", *levels), [("all", *row) for row in rows]
    paths = {_path(row) for row in rows}
    _require_leaves(rows, paths)
    return _tree_of_paths(tuple(levels), paths)


def from_edges(edges: Iterable[tuple[str, str]], levels: Sequence[str] = ()) -> Tree:
    """The tree of (parent, child) pairs; its levels are called level 1, level 2, … unless they are named.

    >>> from_edges([("US", "GA"), ("US", "MI"), ("GA", "Atlanta")]).levels
    ('level 1', 'level 2', 'level 3')
    """
    above: dict[str, str] = {}
    for parent, child in edges:
        if above.setdefault(child, parent) != parent:
            raise bad("tree", "must give each place one parent only", child, "Give the two places different names.")
    tops = {parent for parent in above.values() if parent not in above}
    if len(tops) != 1:
        what = "must have one place at the top and no cycle"
        raise bad("tree", what, sorted(tops), "Remove the edge that closes a cycle, or put one place above all.")
    paths = {name: _path_to_top(name, above) for name in above}
    depth = max(map(len, paths.values()))
    named = tuple(levels) or tuple(f"level {place}" for place in range(1, depth + 1))
    if len(named) != depth:
        raise bad("levels", f"must name all {depth} levels", named, "Give one name for each level, top first.")
    return _tree_of_paths(named, set(paths.values()))


def _path_to_top(name: str, above: dict[str, str]) -> tuple[str, ...]:
    path = [name]
    while path[-1] in above:
        path.append(above[path[-1]])
        if len(path) > MOST_LEVELS:
            what = f"must have no cycle and at most {MOST_LEVELS} levels"
            raise bad("tree", what, name, "Remove the edge that closes the cycle, or levels with one place only.")
    return tuple(reversed(path))


def _path(row: tuple[str, ...]) -> tuple[str, ...]:
    """The branch without the empty names at its end."""
    named = [bool(name) for name in row]
    length = named.index(False) if False in named else len(row)
    if not length or any(named[length:]):
        raise bad("tree", "must leave names empty only at the end of a branch", row, _FIX)
    return row[:length]


def _require_leaves(rows: Sequence[tuple[str, ...]], paths: set[tuple[str, ...]]) -> None:
    if len(paths) < len(rows):
        twice = Counter(map(_path, rows)).most_common(1)[0][0]
        raise bad("tree", "must have each branch once", twice, "Remove one of the two.")
    inner = {path[:length] for path in paths for length in range(1, len(path))}
    if inner & paths:
        raise bad("tree", "must not end a branch where another goes on", sorted(inner & paths)[0], _FIX)


def _tree_of_paths(levels: tuple[str, ...], paths: set[tuple[str, ...]]) -> Tree:
    """Places by level, then by their parent's number, then by name."""
    prefixes = {path[:length] for path in paths for length in range(1, len(path) + 1)}
    by_level: list[list[tuple[str, ...]]] = [[] for _ in levels]
    for path in prefixes:
        by_level[len(path) - 1].append(path)
    order = [path for level in by_level for path in sorted(level)]
    number = {path: place for place, path in enumerate(order)}
    parent = np.array([number[path[:-1]] if len(path) > 1 else -1 for path in order], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum([len(level) for level in by_level])])
    child = 1 + np.concatenate([[0], np.cumsum(np.bincount(parent[1:], minlength=len(order)))])
    return Tree(levels, tuple(path[-1] for path in order), parent, first.astype(np.int64), child.astype(np.int64))


def ancestry(tree: Tree) -> list[Ints]:
    """For each level an array: the place of that level in which each place lies; −1 for places above it."""
    ancestors = [np.full(len(tree), -1, dtype=np.int64) for _ in tree.levels]
    here = np.arange(len(tree))
    for tree_level in reversed(range(tree.depth)):
        start = int(tree.first[tree_level])
        ancestors[tree_level][start:] = here[start:]
        here = np.where(np.arange(len(tree)) >= start, tree.parent[here], here)
    return ancestors


# --- sums ----------------------------------------------------------------------------------------------------------


def of_children(tree: Tree, table: Numbers, tree_level: int) -> Numbers:
    """For each place of a level the sum over its children; 0 for a leaf."""
    rows = tree.places(tree_level)
    sums = np.zeros((rows.stop - rows.start, *table.shape[1:]), dtype=table.dtype)
    if tree_level + 1 < tree.depth:
        below = table[tree.places(tree_level + 1)]
        starts = tree.child[rows] - tree.first[tree_level + 1]
        inner = np.diff(tree.child[rows.start : rows.stop + 1]) > 0
        if inner.any():
            sums[inner] = np.add.reduceat(below, starts[inner], axis=0)
    return sums


def tree_sums(tree: Tree, leaves: Numbers) -> Numbers:
    """The table with these rows as its leaves, in their order; each other place is the sum of its children."""
    table = np.zeros((len(tree), *leaves.shape[1:]), dtype=leaves.dtype)
    table[tree.leaves] = leaves
    for tree_level in reversed(range(tree.depth - 1)):
        table[tree.places(tree_level)] += of_children(tree, table, tree_level)
    return table
