"""Junction trees of small graphs: the cliques that a graphical model of given marginals needs.  NumPy-free."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Clique = tuple[int, ...]  # columns in increasing order


@dataclass(frozen=True)
class Tree:
    """Cliques, parents before children; the parent of each, −1 for the first; what it shares with its parent."""

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    def home(self, columns: Iterable[int]) -> int:
        """The smallest clique that has all these columns, by their number; −1 if there is none."""
        inside = set(columns)
        homes = [place for place, clique in enumerate(self.cliques) if inside <= set(clique)]
        return min(homes, key=lambda place: len(self.cliques[place]), default=-1)


def cells(sizes: Sequence[int], clique: Iterable[int]) -> int:
    """The number of cells of a marginal."""
    return math.prod(sizes[column] for column in clique)


def links_of(columns: int, cliques: Iterable[Clique]) -> list[int]:
    """For each column the bits of all columns that it shares a clique with, its own among them."""
    links = [1 << column for column in range(columns)]
    for clique in cliques:
        bits = sum(1 << column for column in clique)
        for column in clique:
            links[column] |= bits
    return links


def masks_of(sizes: Sequence[int], links: Sequence[int]) -> list[int]:
    """The maximal cliques, as bits, of the graph made chordal by elimination: next the column with fewest cells."""
    around = list(links)
    left = set(range(len(sizes)))
    weight = {column: _bit_cells(sizes, around[column]) for column in left}
    masks: list[int] = []
    while left:
        column = min(left, key=lambda each: (weight[each], each))
        mask = around[column]
        if not any(mask & other == mask for other in masks):
            masks.append(mask)
        left.remove(column)
        rest = mask & ~(1 << column)
        for other in _columns(rest):
            around[other] = (around[other] | rest) & ~(1 << column)
            weight[other] = _bit_cells(sizes, around[other])
    return masks


def tree_cells(sizes: Sequence[int], links: Sequence[int]) -> int:
    """The cells of all cliques of the junction tree together."""
    return sum(_bit_cells(sizes, mask) for mask in masks_of(sizes, links))


def tree_of(sizes: Sequence[int], cliques: Iterable[Clique]) -> Tree:
    """The junction tree of these marginals: a spanning tree of the cliques with the largest separators."""
    masks = masks_of(sizes, links_of(len(sizes), cliques))
    first = max(range(len(masks)), key=lambda place: _bit_cells(sizes, masks[place]))
    order, parents = [first], [-1]
    outside = set(range(len(masks))) - {first}
    while outside:
        child, parent = max(
            ((child, parent) for child in sorted(outside) for parent in range(len(order))),
            key=lambda pair: (masks[pair[0]] & masks[order[pair[1]]]).bit_count(),
        )
        order.append(child)
        parents.append(parent)
        outside.remove(child)
    nodes = tuple(_columns(masks[place]) for place in order)
    shared = tuple(
        () if parent < 0 else tuple(sorted(set(nodes[place]) & set(nodes[parent])))
        for place, parent in enumerate(parents)
    )
    return Tree(nodes, tuple(parents), shared)


def _columns(bits: int) -> Clique:
    columns = []
    while bits:
        lowest = bits & -bits
        columns.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(columns)


def _bit_cells(sizes: Sequence[int], bits: int) -> int:
    product = 1
    while bits:
        lowest = bits & -bits
        product *= sizes[lowest.bit_length() - 1]
        bits ^= lowest
    return product
