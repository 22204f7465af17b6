"""Tables of a second table's columns are of units with rows alone: what that means for shares, fits and replicates.

    N, M           all units, and those with rows; the share without is q = 1 − M/N, 0 where noise says less
    shares         of a feature of the second table (1 − q)·r, and q on the one cell that units without rows have
    targets        (f, presence) with counts where presence is true, and nothing known elsewhere

Of one table, all of these give back what they were given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.ndarrays import Floats, Ints
from discreet.synth.measured.noisy import NoisyTable, total_of
from discreet.synth.model.dual import Target
from discreet.synth.model.junction import Pair
from discreet.synth.subject import Subject

_THERE = 1  # the code of a true presence
_UNKNOWN = 1e9  # the standard deviation of a count that was not taken: it pulls at nothing


def totals_of(subject: Subject, singles: Sequence[NoisyTable]) -> tuple[float, float]:
    """N and M, from the tables of single columns; both are N for one table."""
    own = [table for table in singles if not subject.is_of_rows(table.features)]
    others = [table for table in singles if subject.is_of_rows(table.features)]
    total = total_of(own)
    return total, min(total_of(others), total) if others else total


def with_absent(subject: Subject, shares: Sequence[Floats], absent: float) -> list[Floats]:
    """Shares of all units, from those of the units that each feature was counted among."""
    whole = [own.copy() for own in shares]
    for feature, code in subject.absent_codes.items():
        if feature == subject.presence:
            whole[feature] = np.zeros(len(shares[feature]))
            whole[feature][_THERE] = 1.0
        whole[feature] *= 1 - absent
        whole[feature][code] += absent
    return whole


def presence_pairs(subject: Subject) -> list[Pair]:
    """Each feature with presence: a table of persons and rows is fitted beside it; none for one table."""
    presence = subject.presence
    if presence is None:
        return []
    others = [feature for feature in range(len(subject.sizes)) if feature != presence]
    return [(min(feature, presence), max(feature, presence)) for feature in others]


def among_present(subject: Subject, target: Target, groups: Sequence[Ints]) -> Target:
    """The target as it is, or of a second table with the axis of presence, known only where that is true."""
    presence = subject.presence
    if presence is None or not subject.is_of_rows(target.columns):
        return target
    features = sorted({*target.columns, presence})
    axis, there = features.index(presence), int(groups[presence][_THERE])
    size = int(groups[presence].max()) + 1
    deviation = np.broadcast_to(np.asarray(target.deviation, dtype=np.float64), target.counts.shape)
    tables = (target.counts, deviation) if presence in target.columns else (
        np.stack([target.counts] * size, axis=axis), np.stack([deviation] * size, axis=axis)
    )  # fmt: skip
    is_there = np.zeros(size, dtype=np.bool_)
    is_there[there] = True
    known = np.broadcast_to(_along(is_there, axis, len(features)), tables[0].shape)
    counts, deviations = np.where(known, tables[0], 0.0), np.where(known, tables[1], _UNKNOWN)
    return Target(tuple(features), counts, deviations)


def present_share(
    subject: Subject, table: Floats, features: Sequence[int], groups: Sequence[Ints], *, keeps_presence: bool
) -> Floats:
    """Shares of combinations with presence as they were counted: 0, or without that axis, where it is not true."""
    presence = subject.presence
    if presence is None:
        raise ValueError("one table has no presence")
    axis, there = list(features).index(presence), int(groups[presence][_THERE])
    if not keeps_presence:
        return np.take(table, [there], axis=axis).squeeze(axis)
    is_there = np.zeros(table.shape[axis])
    is_there[there] = 1.0
    kept: Floats = table * _along(is_there, axis, table.ndim)
    return kept


def _along(values: Any, axis: int, dimensions: int) -> Any:
    """The values as an array that is broadcast along that axis."""
    return values.reshape([-1 if place == axis else 1 for place in range(dimensions)])
