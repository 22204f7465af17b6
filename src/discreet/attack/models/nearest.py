"""A hidden cell from a published table: the most frequent value among the rows that are most alike.

Rows are alike in the number of known columns in which they are equal.  Among the values of the rows that are most alike
the most frequent is guessed, and of equally frequent ones each with the same chance.  Giomi, Boenisch, Wehmeyer &
Tasnádi, “A unified framework for quantifying privacy risk in synthetic data” (2023), measure in this way too.
"""

from collections.abc import Sequence

import numpy as np

from discreet.ndarrays import Floats, Ints

_AT_ONCE = 2**24  # comparisons


def codes_of(tables: Sequence[Sequence[Sequence[object]]]) -> list[Ints]:
    """Tables of the same columns as codes, equal where cells are; a row of a table is a row of codes."""
    columns = []
    for place in range(len(tables[0])):
        codes: dict[object, int] = {}
        columns.append([[codes.setdefault(cell, len(codes)) for cell in table[place]] for table in tables])
    return [np.array([column[which] for column in columns], dtype=np.int64).T for which in range(len(tables))]


def chances_of_right(known: Ints, truth: Ints, published: Ints, values: Ints, *, own: bool = False) -> Floats:
    """For each row of `known`, the chance that the guess from the published rows is its truth.

    With `own` the published rows are the known ones themselves, and each row's own place is left out.
    """
    size = int(max(truth.max(initial=0), values.max(initial=0))) + 1
    step = max(1, _AT_ONCE // max(1, published.size))
    right = np.empty(len(known))
    for start in range(0, len(known), step):
        part = known[start : start + step]
        alike = (part[:, None, :] == published[None]).sum(2)
        if own:
            alike[np.arange(len(part)), start + np.arange(len(part))] = -1
        is_nearest = alike == alike.max(1, keepdims=True)
        counts = np.stack([(is_nearest & (values == value)).sum(1) for value in range(size)], axis=1)
        is_best = counts == counts.max(1, keepdims=True)
        own_value = is_best[np.arange(len(part)), truth[start : start + step]]
        right[start : start + step] = own_value / is_best.sum(1)
    return right
