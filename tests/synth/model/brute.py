"""The joint distribution of a few columns, cell by cell, as a slow twin of a tree; and strategies of small graphs."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from discreet.synth.model.junction import junction


def spread(table, columns, count):
    """A table over some columns, in increasing order, as it multiplies one over all of them."""
    shape = [1] * count
    for column, size in zip(columns, table.shape, strict=True):
        shape[column] = size
    return table.reshape(shape)


def joint(tree, potentials):
    """p(x) of every cell, and ln Z."""
    logs = np.zeros(tree.sizes)
    for clique, table in zip(tree.cliques, potentials, strict=True):
        logs = logs + spread(table, clique, len(tree.sizes))
    largest = logs.max()
    weights = np.exp(logs - largest)
    return weights / weights.sum(), largest + np.log(weights.sum())


def marginal_of(cells, columns):
    """The marginal of columns, in the order in which they are named."""
    others = tuple(axis for axis in range(cells.ndim) if axis not in columns)
    rest = sorted(columns)
    return cells.sum(axis=others).transpose([rest.index(column) for column in columns])


@st.composite
def graphs(draw, most_columns=6, most_cells=4):
    """Sizes of columns, pairs of them, and the columns that are drawn first."""
    sizes = draw(st.lists(st.integers(1, most_cells), min_size=1, max_size=most_columns))
    every = list(combinations(range(len(sizes)), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    first = draw(st.sets(st.integers(0, len(sizes) - 1)))
    return sizes, pairs, tuple(sorted(first))


@st.composite
def trees(draw, **limits):
    """A junction tree of a small graph, and a seed for what is put on it."""
    sizes, pairs, first = draw(graphs(**limits))
    return junction(sizes, pairs, first), draw(st.integers(0, 2**32))
