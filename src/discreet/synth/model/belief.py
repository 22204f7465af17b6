"""Beliefs: the marginal of every clique of a junction tree, and the logarithm of the sum over all cells.

    p(x) = e^(Σ_c φ_c(x_c)) / Z        φ_c a table of logarithms for clique c

Two passes of sums over the tree (Lauritzen & Spiegelhalter 1988).  Tables are scaled by their largest entry before they
are exponentiated, and messages by their sums: what is far too unlikely becomes 0 and nothing overflows.  Where cliques
contradict each other so much that next to nothing is left, all of it is computed again by logarithms, which is slower.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.ndarrays import Floats
from discreet.synth.model.junction import Junction

_VANISHED = 1e-250  # entries below 1e-308 were lost, which is nothing beside a sum that is larger


class _VanishedError(Exception):
    """A sum is so small that it may have lost its largest entries."""


class Beliefs:
    """Passes over one tree, with the shapes and axes of its messages worked out once."""

    def __init__(self, tree: Junction) -> None:
        self.tree = tree
        self.shapes = [tuple(tree.sizes[column] for column in clique) for clique in tree.cliques]
        plans = zip(tree.cliques, tree.parents, tree.separators, strict=True)
        self.own_axes: list[tuple[int, ...]] = []
        self.parent_axes: list[tuple[int, ...]] = []
        self._own_shapes: list[tuple[int, ...]] = []
        self._parent_shapes: list[tuple[int, ...]] = []
        for clique, parent, separator in plans:
            above = tree.cliques[parent] if parent >= 0 else ()
            self.own_axes.append(_others(clique, separator))
            self.parent_axes.append(_others(above, separator))
            self._own_shapes.append(_spread(tree, clique, separator))
            self._parent_shapes.append(_spread(tree, above, separator))

    def to_parent(self, message: Any, index: int) -> Any:
        """A table over what a clique shares with its parent, as it multiplies the parent's."""
        return message.reshape(self._parent_shapes[index])

    def to_own(self, message: Any, index: int) -> Any:
        """The same table, as it multiplies the clique's own."""
        return message.reshape(self._own_shapes[index])

    def of(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        """The marginal of each clique, and ln Z, for a table of logarithms for each clique."""
        try:
            return self._of_numbers(potentials)
        except _VanishedError:
            return self._of_logarithms(potentials)

    def _of_numbers(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        tables, log_sum = [], 0.0
        for potential in potentials:
            largest = float(potential.max())
            tables.append(np.exp(potential - largest))
            log_sum += largest
        upward = self._collect(tables)
        root_logs = self._distribute(tables, upward)
        return tables, log_sum + sum(float(np.log(scale)) for scale in (*upward[1], *root_logs))

    def _of_logarithms(self, potentials: Sequence[Floats]) -> tuple[list[Floats], float]:
        tables = [potential.copy() for potential in potentials]
        messages = [np.zeros(()) for _ in tables]
        for index in range(len(tables) - 1, 0, -1):
            parent = self.tree.parents[index]
            if parent >= 0:
                messages[index] = _log_sums(tables[index], self.own_axes[index])
                tables[parent] += self.to_parent(messages[index], index)
        beliefs, log_sum = list[Floats](), 0.0
        for index, parent in enumerate(self.tree.parents):
            if parent < 0:
                own = float(_log_sums(tables[index], tuple(range(tables[index].ndim))))
                log_sum += own
                tables[index] -= own
            else:
                above = _log_sums(tables[parent], self.parent_axes[index])
                tables[index] += self.to_own(above - messages[index], index)
            beliefs.append(np.exp(tables[index]))
        return beliefs, log_sum

    def _collect(self, tables: list[Floats]) -> tuple[list[Floats | None], list[float]]:
        """Multiply each table by what hangs below it; the messages upward, and what they were divided by."""
        messages: list[Floats | None] = [None] * len(tables)
        scales: list[float] = []
        for index in range(len(tables) - 1, 0, -1):
            parent = self.tree.parents[index]
            if parent < 0:
                continue
            message = tables[index].sum(axis=self.own_axes[index])
            scale = _scale(message)
            message /= scale
            scales.append(scale)
            messages[index] = message
            tables[parent] *= self.to_parent(message, index)
        return messages, scales

    def _distribute(self, tables: list[Floats], upward: tuple[list[Floats | None], list[float]]) -> list[float]:
        """Make marginals of the tables from the roots down; the sums of the roots."""
        sums = []
        for index, table in enumerate(tables):
            parent, message = self.tree.parents[index], upward[0][index]
            if parent < 0 or message is None:
                total = _scale(table)
                table /= total
                sums.append(total)
                continue
            above = tables[parent].sum(axis=self.parent_axes[index])
            own = table.sum(axis=self.own_axes[index])
            if ((own < _VANISHED) & (above > _VANISHED)).any():
                raise _VanishedError
            factor = np.divide(above, own, out=np.zeros_like(above), where=own > 0)
            table *= self.to_own(factor, index)
        return sums


def _scale(table: Floats) -> float:
    total = float(table.sum())
    if total < _VANISHED:
        raise _VanishedError
    return total


def _log_sums(table: Floats, axes: tuple[int, ...]) -> Floats:
    largest = table.max(axis=axes, keepdims=True)
    sums = np.log(np.exp(table - largest).sum(axis=axes, keepdims=True)) + largest
    total: Floats = sums.squeeze(axis=axes)
    return total


def marginal(tree: Junction, beliefs: Sequence[Floats], columns: Sequence[int]) -> Floats:
    """The marginal of columns that lie in one clique, in their order."""
    index = tree.home(columns)
    clique = tree.cliques[index]
    axes = tuple(axis for axis, column in enumerate(clique) if column not in columns)
    table: Floats = beliefs[index].sum(axis=axes)
    rest = [column for column in clique if column in columns]
    ordered: Floats = table.transpose([rest.index(column) for column in columns])
    return ordered


def _others(clique: Sequence[int], separator: Sequence[int]) -> tuple[int, ...]:
    return tuple(axis for axis, column in enumerate(clique) if column not in separator)


def _spread(tree: Junction, clique: Sequence[int], separator: Sequence[int]) -> tuple[int, ...]:
    """The shape in which a table over the separator multiplies one over the clique, both in the order of columns."""
    return tuple(tree.sizes[column] if column in separator else 1 for column in clique)
