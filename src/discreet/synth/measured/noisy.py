"""Noisy tables as the ledger stores them, and as numbers: which features, by which groups, in steps of what size.

A part of an envelope holds the noisy steps of several tables one after the other.  Its facts say for each feature the
group of each cell, which features each table has, and how many steps one unit adds to it; its law, the variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt
from typing import Any

import numpy as np

from discreet.envelope import Part
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Floats, Ints
from discreet.query.tags import TAGS

_LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts of units by some features, in increasing order, and the standard deviation of each count."""

    features: tuple[int, ...]
    counts: Floats
    deviation: float


def tables_part(name: str, public: dict[str, Any], share: Fraction, mechanism: Additive, steps: Ints) -> Part:
    """The stored form of what a pass counted, with noise for that share of the price."""
    facts = {
        "name": name,
        "share": str(share),
        "groups": [group.tolist() for group in public["groups"]],
        "cliques": [clique.tolist() for clique in public["cliques"]],
        "weights": public["weights"].tolist(),
    }
    return Part(facts, TAGS.plain(mechanism.noise), steps)


def deviation_of(part: Part) -> float:
    """The standard deviation of the noise in steps; never 0, which a huge ε would give, for fits divide by it."""
    return max(sqrt(TAGS.value(part.law).variance), _LEAST)


def groups_of(part: Part) -> list[Ints]:
    """For each feature the group of each cell, as the part was counted by."""
    return [np.array(group, dtype=np.int64) for group in part.tally["groups"]]


def tables_of(part: Part) -> list[NoisyTable]:
    """The tables of a part, as counts of units."""
    sizes = [int(max(group)) + 1 for group in part.tally["groups"]]
    deviation, start, tables = deviation_of(part), 0, list[NoisyTable]()
    for clique, weight in zip(part.tally["cliques"], part.tally["weights"], strict=True):
        shape = [sizes[feature] for feature in clique]
        end = start + prod(shape)
        counts = part.values[start:end].reshape(shape) / weight
        tables.append(NoisyTable(tuple(clique), counts, deviation / weight))
        start = end
    return tables


def joined(first: NoisyTable, second: NoisyTable) -> NoisyTable:
    """Two noisy versions of one table as one, weighted by 1/variance."""
    if first.features != second.features or first.counts.shape != second.counts.shape:
        raise ValueError("only versions of one table are joined")
    own, other = first.deviation**-2.0, second.deviation**-2.0
    counts = (first.counts * own + second.counts * other) / (own + other)
    return NoisyTable(first.features, counts, (own + other) ** -0.5)


def total_of(tables: Sequence[NoisyTable]) -> float:
    """The number of units, from tables that each add up to it: weighted by 1/variance of their sums; at least 1."""
    precisions = np.array([1 / (table.deviation**2 * table.counts.size) for table in tables])
    sums = np.array([table.counts.sum() for table in tables])
    return max(float(sums @ precisions / precisions.sum()), 1.0)
