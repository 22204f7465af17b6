"""Whether one world fits a table, read off its definition; and the share of random worlds that fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from discreet.attack.consistent.published import Published, Universe
from discreet.attack.interval import share_interval
from discreet.ndarrays import Bools, Ints
from discreet.noise.public import Generator

DRAWS = 100_000
_BATCH = 50_000
_LEAST_HITS = 30


def fits(world: Sequence[int], table: Published) -> bool:
    """Whether the table could have been computed from this multiset of kinds.

    >>> from discreet.attack.consistent.published import published_table, universe
    >>> who = universe({"count": 3, "columns": {"age": range(50)}})
    >>> fits((8, 18, 24), published_table({"median": 18, "mean": "16.7"}, 1, who))
    True
    """
    values = sorted(int(table.values[kind]) for kind in world if table.members[kind])
    count, total = len(values), sum(values)
    if table.count is not None and not table.count[0] <= count <= table.count[1]:
        return False
    if table.total is not None and not table.total[0] <= total <= table.total[1]:
        return False
    if table.mean is not None and not table.mean[0] * count <= total <= table.mean[1] * count:
        return False
    if table.median is None:
        return True
    low, high = table.median
    if table.has_middle:
        return count > 0 and low <= Fraction(values[(count - 1) // 2] + values[count // 2], 2) <= high
    below, above = sum(value < low for value in values), sum(value > high for value in values)
    return 2 * max(below, above) <= count + 2 * table.ranks


@dataclass(frozen=True)
class Estimate:
    """About so many worlds, with a 95 % interval: the universe's size times the share of random worlds that fit."""

    worlds: float
    low: float
    high: float


def estimated_worlds(
    who: Universe, tables: Sequence[Published], numbers: Generator, draws: int = DRAWS
) -> Estimate | None:
    """How many worlds fit, from worlds drawn uniformly; None where too few of the drawn ones do."""
    hits = 0
    for _ in range(-(-draws // _BATCH)):
        worlds = _uniform_worlds(who, _BATCH, numbers)
        kept = np.ones(len(worlds), dtype=bool)
        for table in tables:
            kept &= _fit(worlds, table)
        hits += int(kept.sum())
    if hits < _LEAST_HITS:
        return None
    trials = _BATCH * -(-draws // _BATCH)
    low, high = share_interval(hits, trials)
    return Estimate(hits / trials * who.worlds, low * who.worlds, high * who.worlds)


def _uniform_worlds(who: Universe, many: int, numbers: Generator) -> Ints:
    """Rows of sorted kinds, every multiset equally likely: n distinct numbers below k + n − 1, less 0, 1, …, n − 1."""
    places = len(who.kinds) + who.persons - 1
    rows = np.empty((many, who.persons), dtype=np.int64)
    waiting = np.arange(many)
    while len(waiting):
        drawn = np.sort(numbers.integers(0, places, (len(waiting), who.persons)), axis=1)
        rows[waiting] = drawn
        waiting = waiting[(np.diff(drawn, axis=1) == 0).any(axis=1)]
    return rows - np.arange(who.persons)


def _fit(worlds: Ints, table: Published) -> Bools:
    """`fits` for rows of kinds at once."""
    members, values = table.members[worlds], table.values[worlds]
    count, total = members.sum(axis=1), np.where(members, values, 0).sum(axis=1)
    kept = np.ones(len(worlds), dtype=bool)
    for ends, number in ((table.count, count), (table.total, total)):
        if ends is not None:
            kept &= (number >= ends[0]) & (number <= ends[1])
    if table.mean is not None:
        low, high = table.mean
        kept &= (total * low.denominator >= low.numerator * count) & (
            total * high.denominator <= high.numerator * count
        )
    if table.median is not None and not table.has_middle:
        low, high = table.median
        for beyond in (values < float(low), values > float(high)):
            kept &= 2 * (members & beyond).sum(axis=1) <= count + 2 * table.ranks
    if table.median is not None and table.has_middle:
        low, high = table.median
        ranked = np.sort(np.where(members, values, table.values.max() + 1), axis=1)  # members first
        ranks = np.maximum((count - 1) // 2, 0), np.minimum(count // 2, worlds.shape[1] - 1)
        both = sum(np.take_along_axis(ranked, rank[:, None], axis=1)[:, 0] for rank in ranks)
        kept &= (count > 0) & (both >= ceil(2 * low)) & (both <= floor(2 * high))
    return kept
