"""A graphical model on a junction tree: its marginals from its potentials, any other marginal, rows drawn from it.

NumPy only, for any environment.  Tables of a set of columns have their axes in increasing order of columns.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.synth_tree import Clique, Tree

Array = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Model:
    """Shares of all cells of each clique of the tree, and the number of rows that they stand for."""

    sizes: tuple[int, ...]
    tree: Tree
    shares: tuple[Array, ...]
    total: float


def shares_of(tree: Tree, potentials: Sequence[Array]) -> tuple[Array, ...]:
    """The marginals of p(x) ∝ exp Σ θ_c(x_c) on the cliques c of the tree (Lauritzen & Spiegelhalter 1988).

    Upwards each clique becomes a conditional law given its separator, with one exponential a cell and the largest
    exponent of each separator cell taken out, so that nothing underflows; downwards it is multiplied by its parent's
    marginal.
    """
    inner = list(potentials)
    conditional: list[Array] = [np.empty(0)] * len(inner)
    for place in range(len(inner) - 1, -1, -1):
        axes = _axes_outside(tree.cliques[place], tree.separators[place])
        top = inner[place].max(axis=axes, keepdims=True)
        weights = np.exp(inner[place] - top)
        sums = weights.sum(axis=axes, keepdims=True)
        conditional[place] = np.divide(weights, sums, out=weights)
        if place:
            parent = tree.parents[place]
            message = (np.log(sums) + top).squeeze(axis=axes)
            separator = tree.separators[place]
            inner[parent] = inner[parent] + expand(message, separator, tree.cliques[parent])
    shares = [conditional[0]]
    for place in range(1, len(inner)):
        parent = tree.parents[place]
        above = marginal(shares[parent], tree.cliques[parent], tree.separators[place])
        shares.append(conditional[place] * expand(above, tree.separators[place], tree.cliques[place]))
    return tuple(shares)


def marginal(table: Array, columns: Clique, kept: Iterable[int]) -> Array:
    """The table summed over all columns but the kept ones."""
    axes = _axes_outside(columns, kept)
    return table.sum(axis=axes) if axes else table


def expand(table: Array, columns: Clique, wider: Clique) -> Array:
    """A view of the table that broadcasts over the axes of wider columns."""
    inside = set(columns)
    index = tuple(slice(None) if column in inside else None for column in wider)
    return table[index]


class Marginals:
    """Marginals of a model for many sets of columns, also of columns that are in no clique together.

    The root of a query is the clique with the least sum of distances to its columns: then no branch carries more than
    one column of a triple, and messages are shared between queries.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        tree = model.tree
        self._beside: list[list[int]] = [[] for _ in tree.cliques]
        for place, parent in enumerate(tree.parents):
            if parent >= 0:
                self._beside[place].append(parent)
                self._beside[parent].append(place)
        self._tables: dict[tuple[int, Clique], Array] = {}
        self._messages: dict[tuple[int, int, Clique], tuple[Clique, Array] | None] = {}
        self._far = {column: self._distances(column) for column in range(len(model.sizes))}

    def __call__(self, columns: Clique) -> Array:
        """Shares of all cells of these columns."""
        home = self._model.tree.home(columns)
        if home >= 0:
            return self._table(home, columns)
        nodes = range(len(self._model.tree.cliques))
        root = min(nodes, key=lambda node: (sum(self._far[column][node] for column in columns), node))
        return self._joint(root, -1, columns, columns)[1]

    def _joint(self, node: int, to: int, columns: Clique, kept: Clique) -> tuple[Clique, Array]:
        """The joint law of the kept columns as seen from the node away from `to`."""
        messages = [self._message(other, node, columns) for other in self._beside[node] if other != to]
        incoming = [message for message in messages if message is not None]
        incoming.sort(key=lambda message: message[1].size)
        own = set(self._model.tree.cliques[node])
        shared = [set(scope) & own for scope, _ in incoming]
        needed = tuple(sorted((own & set(kept)).union(*shared)))
        scope, table = needed, self._table(node, needed)
        for number, (other, message) in enumerate(incoming):
            later = set(kept).union(*shared[number + 1 :])
            scope, table = _product(scope, table, other, message, later)
        return scope, table

    def _message(self, node: int, to: int, columns: Clique) -> tuple[Clique, Array] | None:
        """P(carried columns | separator) of the branch behind `node`; None if it carries none of the columns."""
        separator = set(self._model.tree.cliques[node]) & set(self._model.tree.cliques[to])
        carried = tuple(column for column in columns if column not in separator and self._is_behind(column, node, to))
        if not carried:
            return None
        key = node, to, carried
        if key not in self._messages:
            kept = tuple(sorted({*separator, *carried}))
            scope, joint = self._joint(node, to, carried, kept)
            below = marginal(joint, scope, separator)[tuple(_index(scope, separator))]
            self._messages[key] = scope, np.divide(joint, below, out=np.zeros_like(joint), where=below > 0)
        return self._messages[key]

    def _is_behind(self, column: int, node: int, to: int) -> bool:
        return self._far[column][node] < self._far[column][to]

    def _table(self, node: int, kept: Clique) -> Array:
        key = node, kept
        if key not in self._tables:
            self._tables[key] = marginal(self._model.shares[node], self._model.tree.cliques[node], kept)
        return self._tables[key]

    def _distances(self, column: int) -> list[int]:
        """Steps in the tree from each clique to the nearest one with the column."""
        cliques = self._model.tree.cliques
        steps = [0 if column in clique else len(cliques) for clique in cliques]
        edge = [node for node, clique in enumerate(cliques) if column in clique]
        while edge:
            reached = []
            for node in edge:
                for other in self._beside[node]:
                    if steps[other] > steps[node] + 1:
                        steps[other] = steps[node] + 1
                        reached.append(other)
            edge = reached
        return steps


def rows_of(model: Model, rows: int, draw: Any) -> Codes:
    """Rows drawn column by column along the tree; within each group of equal parents the shares are rounded.

    Of the n rows of a group ⌊n·p⌋ have each value, and the rest are drawn without replacement by the fractions.
    """
    codes = np.zeros((rows, len(model.sizes)), dtype=np.int64)
    for clique, separator, table in zip(model.tree.cliques, model.tree.separators, model.shares, strict=True):
        given = list(separator)
        for column in sorted(set(clique) - set(separator), key=lambda each: model.sizes[each]):
            scope = tuple(sorted([*given, column]))
            law = np.moveaxis(marginal(table, clique, scope), scope.index(column), -1)
            _draw_column(codes, sorted(given), column, law.reshape(-1, model.sizes[column]), model.sizes, draw)
            given.append(column)
    return codes


def _draw_column(codes: Codes, given: list[int], column: int, law: Array, sizes: tuple[int, ...], draw: Any) -> None:
    """Fills one column, given the columns before it."""
    cell = np.zeros(len(codes), dtype=np.int64)
    for parent in given:
        cell = cell * sizes[parent] + codes[:, parent]
    groups, place, counts = np.unique(cell, return_inverse=True, return_counts=True)
    shares = np.maximum(law[groups], 0)
    sums = shares.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, shares / np.where(sums > 0, sums, 1), 1 / law.shape[1])
    expected = shares * counts[:, None]
    whole = np.floor(expected)
    missing = counts - whole.sum(axis=1).astype(np.int64)
    with np.errstate(divide="ignore"):
        keys = np.log(expected - whole) + draw.gumbel(size=expected.shape)  # the largest keys: successive draws
    ranks = np.argsort(np.argsort(-keys, axis=1), axis=1)
    numbers = whole.astype(np.int64) + (ranks < missing[:, None])
    values = np.repeat(np.tile(np.arange(law.shape[1]), len(groups)), numbers.ravel())
    order = np.lexsort((draw.random(len(codes)), place))  # rows by group, in random order within it
    codes[order, column] = values


def _product(scope: Clique, table: Array, other: Clique, message: Array, kept: Iterable[int]) -> tuple[Clique, Array]:
    """Σ table·message over the shared columns that are not kept, as one product of matrices for each shared kept cell.

    The message's own columns are all kept, and so are those of the table that it does not share.
    """
    keep = set(kept)
    shared = set(scope) & set(other)
    batch = [column for column in scope if column in shared and column in keep]
    summed = [column for column in scope if column in shared and column not in keep]
    left = [column for column in scope if column not in shared]
    right = [column for column in other if column not in shared]
    size = dict(zip(scope, table.shape, strict=True)) | dict(zip(other, message.shape, strict=True))
    count = [math.prod(size[column] for column in part) for part in (batch, left, summed, right)]
    first = table.transpose([scope.index(column) for column in (*batch, *left, *summed)])
    second = message.transpose([other.index(column) for column in (*batch, *summed, *right)])
    result = first.reshape(count[0], count[1], count[2]) @ second.reshape(count[0], count[2], count[3])
    order = [*batch, *left, *right]
    result = result.reshape([size[column] for column in order])
    wide = tuple(sorted(order))
    return wide, result.transpose([order.index(column) for column in wide])


def _index(scope: Clique, kept: Iterable[int]) -> list[Any]:
    inside = set(kept)
    return [slice(None) if column in inside else None for column in scope]


def _axes_outside(columns: Clique, kept: Iterable[int]) -> tuple[int, ...]:
    inside = set(kept)
    return tuple(axis for axis, column in enumerate(columns) if column not in inside)
