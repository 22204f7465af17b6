"""The small database mechanism a second time: all sequences one by one, with Fractions and 40 digits, by the lecture's
own formula."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import mpmath
import numpy as np

from mechanism.exact_laws import number


def table(*rows):
    """Queries × cells from texts of 0 and 1."""
    return np.array([[letter == "1" for letter in row] for row in rows])


def histograms(cells, rows):
    """All counts of so many rows by cell."""
    for listed in combinations_with_replacement(range(cells), rows):
        yield [listed.count(cell) for cell in range(cells)]


def share(query, counts, rows):
    """f_k of a table, at most 1 where it has more rows than N."""
    held = sum(count for count, holds in zip(counts, query, strict=True) if holds)
    return min(Fraction(held, rows), Fraction(1))


def loss(truths, database, counts, rows):
    """max_k |f_k(D̂) − f_k(D)|, of a database as a sequence of cells."""
    cell_counts = [database.count(cell) for cell in range(truths.shape[1])]
    return max(abs(share(query, cell_counts, len(database)) - share(query, counts, rows)) for query in truths.tolist())


def sequences_law(truths, counts, *, rows, size, epsilon, unit_rows=1):
    """Probability by sorted database: every one of |X|^N̂ sequences has the weight e^(−ε·N·loss/(2m))."""
    rate = number(Fraction(epsilon) * rows / (2 * unit_rows))
    weights = {}
    for sequence in product(range(truths.shape[1]), repeat=size):
        weight = mpmath.exp(-rate * number(loss(truths, sequence, counts, rows)))
        database = tuple(sorted(sequence))
        weights[database] = weights.get(database, 0) + weight
    total = mpmath.fsum(weights.values())
    return {database: weight / total for database, weight in weights.items()}


def uniform_law(truths, counts, *, rows, size, epsilon, unit_rows=1):
    """The law of a bug: every multiset counts once, however many sequences it stands for."""
    rate = number(Fraction(epsilon) * rows / (2 * unit_rows))
    databases = list(combinations_with_replacement(range(truths.shape[1]), size))
    weights = [mpmath.exp(-rate * number(loss(truths, database, counts, rows))) for database in databases]
    total = mpmath.fsum(weights)
    return {database: weight / total for database, weight in zip(databases, weights, strict=True)}


def sorted_cells(counts):
    """The cells of a database from its counts."""
    return tuple(np.repeat(np.arange(len(counts)), counts).tolist())
