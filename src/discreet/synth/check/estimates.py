"""What noisy numbers of a check say: each statistic with its ±, from released numbers and public facts alone.

With n̂ the noisy number of units and n the true one, T = ‖x − n̂·q‖₁ and p = x/n,

    | T/n̂ − ‖p − q‖₁ | ≤ |n − n̂|/n̂

So the ± is the noise of T and that of n̂ together, each at half of what the level leaves, and what whole steps add.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from discreet.learn.heldout.auc import auc_estimate
from discreet.learn.heldout.interval import Estimate, share_estimate
from discreet.ndarrays import Ints
from discreet.synth.check.distances import GRAINS, rounding
from discreet.synth.check.measuring import Released
from discreet.synth.check.plan import AREA, CLASSES, COUNT, EACH, GAP
from discreet.synth.check.products import LARGEST
from discreet.synth.check.tables import STEPS

UNITS, ACCURACY, MAJORITY = "units", "accuracy", "majority"
FURTHEST = 2.0  # that shares lie apart at most
_HALF = 0.5  # of a grain: what is released was rounded down


@dataclass(frozen=True)
class Statistic:
    """One number, its ±, and the ends between which it lies as often as the level says; None where noise says nothing.

    `columns` are those that it is about, none where it is a mean over `tables` of them; `synthetic` is the same number
    of the synthetic rows, where there is one.
    """

    name: str
    columns: tuple[str, ...]
    value: float | None
    low: float
    high: float
    moe: float  # of the noise; ends are cut off at what is possible, and then lie nearer
    tables: int = 1
    synthetic: float | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON, which has no infinite numbers: null where noise bounds nothing."""
        return {
            "statistic": self.name,
            "columns": list(self.columns),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "moe": self.moe if isfinite(self.moe) else None,
            "synthetic": self.synthetic,
            "tables": self.tables,
        }


def statistics_of(released: Released) -> tuple[Statistic, ...]:
    """All statistics, in the order in which they were asked."""
    return tuple(statistic for name in released.plan.asked for statistic in _statistics(released, name))


def _statistics(released: Released, name: str) -> Iterator[Statistic]:
    if name == COUNT:
        yield _count(released)
    elif name == CLASSES:
        yield from _classes(released)
    elif name == AREA:
        yield _area(released)
    elif EACH.get(name, name) == GAP:
        yield from _products(released, name)
    else:
        yield from _distances(released, name)


def _count(released: Released) -> Statistic:
    moe = released.plan.moe(COUNT)
    value = float(released.numbers[COUNT][0]) / STEPS
    return Statistic(UNITS, (), max(value, 0.0), max(value - moe, 0.0), max(value + moe, 0.0), moe)


def _distances(released: Released, name: str) -> Iterator[Statistic]:
    plan, about = released.plan, released.plan.compared
    tables, subject = about.tables[EACH.get(name, name)], about.build.plan.subject
    slack = [
        rounding(own, about.synthetic.total, released.units)
        for batch in tables.batches()
        for own in tables.split(about.synthetic.of(tables.public(batch)), batch)
    ]
    # The ± is in units: of n̂, of what rows lose that share a weight, of the noise and of what is rounded down.
    units, rows = released.units / STEPS, subject.schema.max_rows
    fixed = plan.radius(COUNT) / STEPS + 4 * units * (rows - 1) / STEPS + (plan.radius(name) + 1) / GRAINS
    if name in EACH:
        values = (released.numbers[name] + _HALF) / GRAINS / units
        for clique, value, own_slack in zip(tables.cliques, values.tolist(), slack, strict=True):
            columns = tuple(subject.names[feature] for feature in clique)
            yield _within(name, columns, value, (fixed + own_slack / STEPS) / units, (0.0, FURTHEST))
        return
    moe = (fixed + sum(slack) / len(slack) / STEPS) / units
    value = (float(released.numbers[name][0]) + _HALF) / GRAINS / units
    yield _within(name, (), value, moe, (0.0, FURTHEST), tables=len(slack))


def _products(released: Released, name: str) -> Iterator[Statistic]:
    """Correlations.  For a sum S of products, |S/n̂ − S/n| = |S/n̂|·|n − n̂|/n, and n is at least n̂ less its own ±."""
    plan, about = released.plan, released.plan.compared
    if about.products is None:
        return
    products, names, units = about.products, about.build.plan.subject.names, released.units / STEPS
    synthetic, scale = products.synthetic(about.synthetic), about.scale(name)
    off = plan.radius(COUNT) / released.units
    count_moe = off / (1 - off) if off < 1 else float("inf")
    noise = (plan.radius(name) + 2) / scale / units  # what is expected is rounded by less than a grain too
    values = (released.numbers[name] + _HALF) / scale / units
    if name in EACH:
        rows = zip(products.tables.cliques, values.tolist(), synthetic.tolist(), strict=True)
        for clique, value, own in rows:
            moe = noise + count_moe * (abs(value) + noise)
            columns = tuple(names[feature] for feature in clique)
            yield _within(name, columns, value, moe, (-LARGEST, LARGEST), synthetic=own)
        return
    value = float(values[0])
    moe = noise + count_moe * (float(np.abs(synthetic).mean()) + abs(value) + noise)
    yield _within(name, (), value, moe, (0.0, 2 * LARGEST), tables=len(products.tables.cliques))


def _within(
    name: str,
    columns: tuple[str, ...],
    value: float,
    moe: float,
    ends: tuple[float, float],
    *,
    tables: int = 1,
    synthetic: float | None = None,
) -> Statistic:
    """The number and its interval, both within what is possible."""
    low, high = (min(max(end, ends[0]), ends[1]) for end in (value - moe, value + moe))
    inside = min(max(value, ends[0]), ends[1])
    return Statistic(name, columns, inside, low, high, moe, tables, synthetic)


def _classes(released: Released) -> Iterator[Statistic]:
    """The share of real rows that the model says right, and of those that have the class of most synthetic rows."""
    trial = released.plan.compared.trial
    if trial is None:
        return
    counts = released.numbers[CLASSES].reshape(2, -1)  # wrong, right
    classes, target = counts.shape[1], (trial.target.name,)
    majority = _majority(trial.model)
    yield _share(released, ACCURACY, target, counts[1], counts[0])
    rest = np.delete(counts, majority, axis=1).ravel()
    if classes > 1:
        yield _share(released, MAJORITY, target, counts[:, majority], rest)


def _majority(model: Any) -> int:
    return int(model.majority)


def _share(released: Released, name: str, columns: tuple[str, ...], yes: Ints, no: Ints) -> Statistic:
    law = released.plan.law(CLASSES)
    numbers = (int(yes.size), int(no.size))
    own = share_estimate(int(yes.sum()), int(no.sum()), scale=law.scale, level=law.level, numbers=numbers)
    return _from_estimate(name, columns, own)


def _area(released: Released) -> Statistic:
    trial = released.plan.compared.trial
    columns = () if trial is None else (trial.target.name,)
    return _from_estimate("auc", columns, auc_estimate(released.numbers[AREA], released.plan.law(AREA)))


def _from_estimate(name: str, columns: Sequence[str], own: Estimate) -> Statistic:
    moe = (own.high - own.low) / 2 if own.value is None else max(own.value - own.low, own.high - own.value)
    return Statistic(name, tuple(columns), own.value, own.low, own.high, moe)
