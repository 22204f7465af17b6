"""A junction tree: cliques of columns, so that whatever lies in one of them can be computed from small tables.

A graph of pairs is made chordal by eliminating columns one by one, each time the one whose neighbours and itself span
the fewest cells; its maximal cliques, joined by a maximum spanning tree over the cells of what they share, have the
running-intersection property (Jensen & Jensen 1994; Koller & Friedman 2009, chapter 10).

Drawn in the reverse order of elimination, each column depends on its neighbours at that time alone.  Columns that are
to be drawn first, such as those of a person whose visits follow, are eliminated after all others.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, prod

Pair = tuple[int, int]


@dataclass(frozen=True)
class Draw:
    """A column and the columns drawn before it on which it depends."""

    column: int
    given: tuple[int, ...]


@dataclass(frozen=True)
class Junction:
    """Cliques from the root on; `parents[i]` is the earlier clique that clique i hangs on, −1 for a root.

    >>> tree = junction((2, 3, 4), [(0, 1), (1, 2)])
    >>> tree.cliques, tree.parents, tree.cells
    (((1, 2), (0, 1)), (-1, 0), 18)
    """

    sizes: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    draws: tuple[Draw, ...]

    @cached_property
    def separators(self) -> tuple[tuple[int, ...], ...]:
        """For each clique the columns that it shares with its parent; none for the first and for parts of their own."""
        shared = []
        for clique, parent in zip(self.cliques, self.parents, strict=True):
            others = set(self.cliques[parent]) if parent >= 0 else set()
            shared.append(tuple(column for column in clique if column in others))
        return tuple(shared)

    @property
    def cells(self) -> int:
        """The cells of all cliques."""
        return sum(self.cells_of(clique) for clique in self.cliques)

    def cells_of(self, clique: Iterable[int]) -> int:
        """The cells of one set of columns."""
        return prod(self.sizes[column] for column in clique)

    def home(self, columns: Iterable[int]) -> int:
        """The smallest clique that holds these columns."""
        wanted = set(columns)
        homes = [index for index, clique in enumerate(self.cliques) if wanted <= set(clique)]
        if not homes:
            raise ValueError("no clique of the tree holds these columns")
        return min(homes, key=lambda index: self.cells_of(self.cliques[index]))


def junction(sizes: Sequence[int], pairs: Iterable[Pair], first: Collection[int] = ()) -> Junction:
    """The junction tree of a graph on columns of these sizes; every column is in a clique, `first` are drawn first."""
    eliminated = _elimination(sizes, pairs, first)
    cliques = _maximal([(draw.column, *draw.given) for draw in eliminated])
    order, parents = _spanning_tree(sizes, cliques)
    draws = tuple(reversed(eliminated))
    return Junction(tuple(sizes), tuple(cliques[index] for index in order), parents, draws)


def tree_cells(sizes: Sequence[int], pairs: Iterable[Pair], first: Collection[int] = ()) -> int:
    """The cells of the cliques of that graph, without the tree: what a candidate graph would take."""
    cliques = _maximal([(draw.column, *draw.given) for draw in _elimination(sizes, pairs, first)])
    return sum(prod(sizes[column] for column in clique) for clique in cliques)


def _elimination(sizes: Sequence[int], pairs: Iterable[Pair], first: Collection[int]) -> list[Draw]:
    neighbours: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for left, right in pairs:
        neighbours[left].add(right)
        neighbours[right].add(left)
    logs = [log(size) for size in sizes]
    weights = {column: logs[column] + sum(logs[other] for other in around) for column, around in neighbours.items()}
    eliminated = []
    while neighbours:
        column = min(neighbours, key=lambda column: (column in first, weights[column], column))
        around = neighbours.pop(column)
        eliminated.append(Draw(column, tuple(sorted(around))))
        for other in around:
            neighbours[other] |= around - {other}
            neighbours[other].discard(column)
        for other in around:
            weights[other] = logs[other] + sum(logs[further] for further in neighbours[other])
    return eliminated


def _maximal(cliques: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    maximal: list[set[int]] = []
    for clique in sorted(map(set, cliques), key=len, reverse=True):
        if not any(clique <= larger for larger in maximal):
            maximal.append(clique)
    return [tuple(sorted(clique)) for clique in maximal]


def _spanning_tree(sizes: Sequence[int], cliques: Sequence[tuple[int, ...]]) -> tuple[list[int], tuple[int, ...]]:
    """Prim's algorithm from the largest clique: the order of the cliques, and each one's parent as a place in it."""
    sets = [set(clique) for clique in cliques]

    def weight_shared(clique: int, other: int) -> float:
        return sum(log(sizes[column]) + 1 for column in sets[clique] & sets[other])

    start = max(range(len(cliques)), key=lambda index: prod(sizes[column] for column in cliques[index]))
    order, parents = [start], [-1]
    best = {index: (weight_shared(index, start), 0) for index in range(len(cliques)) if index != start}
    while best:
        index = max(best, key=lambda index: (best[index][0], -index))
        weight, place = best.pop(index)
        order.append(index)
        parents.append(place if weight > 0 else -1)
        for other, (other_weight, _) in list(best.items()):
            weight = weight_shared(other, index)
            if weight > other_weight:
                best[other] = (weight, len(order) - 1)
    return order, tuple(parents)
