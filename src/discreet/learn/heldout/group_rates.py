"""Rates of each group from noisy counts: accuracy, true and false positives, and the largest gap between groups.

Of each group four or five cells are counted, and a row is in one of them:

    found      of the class, and predicted so            missed    of the class, and not predicted so
    alarm      not of the class, but predicted so        right     of another class, and predicted right
    confused   of another class, and predicted as a third; only where there are three classes or more

Proof page: docs/proofs/learn/heldout/score.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.learn.heldout.interval import Estimate, Law, count_estimate, share_estimate, share_moe
from discreet.learn.heldout.trial import Scored
from discreet.ndarrays import Ints

FOUND, MISSED, ALARM, RIGHT, CONFUSED = range(5)
RATES = ("accuracy", "tpr", "fpr")


def cells_of(classes: int) -> int:
    """How many cells a group has."""
    return 4 if classes == 2 else 5


def group_counts(scored: Scored, groups: int, classes: int, positive: int) -> Ints:
    """Rows by group and cell, flat; those without a group do not count."""
    is_own, is_said = scored.target == positive, scored.predicted == positive
    other = np.where(scored.predicted == scored.target, RIGHT, CONFUSED)
    cell = np.where(is_own, np.where(is_said, FOUND, MISSED), np.where(is_said, ALARM, other))
    counts, width = scored.group >= 0, cells_of(classes)
    return np.bincount(scored.group[counts] * width + cell[counts], minlength=groups * width).astype(np.int64)


@dataclass(frozen=True)
class Group:
    """One group: about how many persons it has, and its rates, whose value is None where too few are there to tell."""

    name: str
    persons: Estimate
    accuracy: Estimate
    tpr: Estimate
    fpr: Estimate

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        rates = {name: getattr(self, name).to_json() for name in RATES}
        return {"group": self.name, "persons": self.persons.to_json(), **rates}


def group_of(name: str, noisy: Ints, *, scale: float, level: Fraction, drawn: float = 0.0) -> Group:
    """The rates of a group from the noisy counts of its cells."""

    def rate(name: str) -> Estimate:
        yes, no = _sides(name, len(noisy))
        both = int(noisy[yes].sum()), int(noisy[no].sum())
        return share_estimate(*both, scale=scale, level=level, numbers=(len(yes), len(no)), drawn=drawn)

    persons = count_estimate(int(noisy.sum()), scale=scale, numbers=len(noisy), level=level)
    return Group(name, persons, *(rate(name) for name in RATES))


def rate_moe(name: str, size: int, cells: int, law: Law) -> float:
    """About the ± of a rate of so many, where a group has so many cells."""
    yes, no = _sides(name, cells)
    drawn = float(law.rows if law.is_population else 0)
    return share_moe(size, scale=law.scale, level=law.level, numbers=(len(yes), len(no)), drawn=drawn)


def _sides(name: str, cells: int) -> tuple[list[int], list[int]]:
    """The cells that a rate is the share of, and those that it leaves."""
    rest = [RIGHT, CONFUSED][: cells - RIGHT]
    sides = {
        "accuracy": ([FOUND, RIGHT], [MISSED, ALARM, *rest[1:]]),
        "tpr": ([FOUND], [MISSED]),
        "fpr": ([ALARM], rest),
    }
    return sides[name]


def gap_of(rates: Sequence[Estimate]) -> Estimate:
    """The largest rate less the least; its interval holds wherever all intervals of the rates hold at once."""
    told = [rate.value for rate in rates if rate.value is not None]
    low = max(0.0, max(rate.low for rate in rates) - min(rate.high for rate in rates))
    high = max((a.high - b.low for i, a in enumerate(rates) for j, b in enumerate(rates) if i != j), default=1.0)
    value = max(told) - min(told) if len(told) > 1 else None
    return Estimate(None if value is None else min(max(value, low), high), low, min(max(high, 0.0), 1.0))
