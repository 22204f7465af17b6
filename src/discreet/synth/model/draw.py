"""Draw rows from a fitted tree so that counts are within one of what is expected, column by column.

Each column is drawn given those before it that it depends on.  Systematic sampling (Madow 1949): of the rows that agree
in these, cell i gets ⌊E₁ + … + E_i + u⌋ − ⌊E₁ + … + E_{i−1} + u⌋, E the expected numbers and u one uniform number, and
which of these rows gets which cell is shuffled.  Independent draws would add the sampling error of a second table of
the same size.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator
from discreet.synth.model.belief import marginal
from discreet.synth.model.dual import Fitted
from discreet.synth.model.junction import Draw


def draw_column(fitted: Fitted, draw: Draw, codes: Mapping[int, Ints], rows: int, generator: Generator) -> Ints:
    """The codes of one column for so many rows, given the columns that are drawn already."""
    table = marginal(fitted.tree, fitted.beliefs, (*draw.given, draw.column))
    groups = _numbers(codes, draw.given, fitted.tree.sizes, rows)
    return conditional_draws(groups, table.reshape(-1, table.shape[-1]), generator)


def conditional_draws(groups: Ints, table: Floats, generator: Generator) -> Ints:
    """For each row a column of the table, by the chances in the row's group, systematically within each group.

    A group without chances, which a fit gives no row but for the last digits of its numbers, has even ones.
    """
    order = _shuffled_order(groups, generator)
    sizes = np.bincount(groups, minlength=len(table))
    filled = np.flatnonzero(sizes)
    chances, rows = table[filled], sizes[filled][:, None]
    sums = chances.sum(axis=1, keepdims=True)
    chances = np.divide(chances, sums, out=np.full_like(chances, 1 / chances.shape[1]), where=sums > 0)
    ends = np.floor(np.cumsum(chances * rows, axis=1) + generator.random((len(filled), 1))).astype(np.int64)
    last = chances.shape[1] - 1 - np.argmax(chances[:, ::-1] > 0, axis=1)  # no row falls behind by a rounded sum
    ends = np.where(np.arange(chances.shape[1]) >= last[:, None], rows, np.minimum(ends, rows))
    counts = np.diff(ends, axis=1, prepend=0)
    kind = np.min_scalar_type(table.shape[1])
    drawn = np.empty(len(groups), dtype=kind)
    drawn[order] = np.repeat(np.tile(np.arange(table.shape[1], dtype=kind), len(filled)), counts.ravel())
    return drawn


def _numbers(codes: Mapping[int, Ints], columns: Sequence[int], sizes: Sequence[int], rows: int) -> Ints:
    number = np.zeros(rows, dtype=np.int64)
    for column in columns:
        number = number * sizes[column] + codes[column]
    return number


def _shuffled_order(groups: Ints, generator: Generator) -> Ints:
    """The rows by group, in random order within each."""
    shuffled = generator.permutation(len(groups))
    return shuffled[np.argsort(groups[shuffled], kind="stable")]
