"""Which values can occur at all where combinations of them are forbidden: two passes of true and false over a tree."""

from collections.abc import Sequence

import numpy as np

from discreet.ndarrays import Bools
from discreet.synth.model.belief import Beliefs
from discreet.synth.model.junction import Junction


def possible_cells(tree: Junction, forbidden: Sequence[tuple[tuple[int, ...], Bools]]) -> list[Bools]:
    """For each clique the cells that some row can have; `forbidden` has masks over columns, in increasing order.

    >>> from discreet.synth.model.junction import junction
    >>> (cells,) = possible_cells(junction((2, 2), [(0, 1)]), [((0, 1), np.array([[True, True], [False, True]]))])
    >>> cells.tolist()
    [[False, False], [True, False]]
    """
    tables: list[Bools] = [
        np.ones([tree.sizes[column] for column in clique], dtype=np.bool_) for clique in tree.cliques
    ]
    for columns, mask in forbidden:
        index = tree.home(columns)
        clique = tree.cliques[index]
        tables[index] &= ~mask.reshape([tree.sizes[column] if column in columns else 1 for column in clique])
    passes = Beliefs(tree)
    for index in range(len(tables) - 1, 0, -1):
        parent = tree.parents[index]
        if parent >= 0:
            tables[parent] &= passes.to_parent(tables[index].any(axis=passes.own_axes[index]), index)
    if not all(table.any() for table in tables):
        return [np.zeros_like(table) for table in tables]  # of parts without a common column one is impossible
    for index, parent in enumerate(tree.parents):
        if parent >= 0:
            tables[index] &= passes.to_own(tables[parent].any(axis=passes.parent_axes[index]), index)
    return tables
