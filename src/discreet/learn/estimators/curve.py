"""What privacy costs each group, on public data: the same model at several ε, and without privacy, side by side.

Rows are divided once, by a seed; every fit draws its own noise.  Nothing is charged, so this is for data that everybody
may see.  Without privacy means ε = 10⁶, where the noise is nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from discreet import amounts
from discreet.errors import bad
from discreet.learn.estimators.base import Classifier
from discreet.learn.heldout.group_rates import RATES
from discreet.learn.input.arrays import columns_of
from discreet.ndarrays import Bools
from discreet.noise.public import generator

WITHOUT = amounts.MAX_EPSILON
EPSILONS = ("0.1", "0.3", "1", "3", "10")


@dataclass(frozen=True)
class GroupCurve:
    """One group: how many public test rows it has, its rate without privacy, and at each ε the rate of every draw."""

    name: str
    rows: int
    without: float
    rates: tuple[tuple[float, ...], ...]

    @property
    def means(self) -> tuple[float, ...]:
        """The mean rate at each ε."""
        return tuple(float(np.mean(draws)) for draws in self.rates)


@dataclass(frozen=True)
class FairnessCurve:
    """A rate of each group as ε grows, and the gap between groups; of public data alone."""

    model: str
    rate: str
    epsilons: tuple[str, ...]
    groups: tuple[GroupCurve, ...]

    @property
    def gaps(self) -> tuple[float, ...]:
        """The mean over draws of the largest rate less the least, at each ε."""
        draws = np.array([group.rates for group in self.groups])
        return tuple(float(gap) for gap in (draws.max(axis=0) - draws.min(axis=0)).mean(axis=1))

    @property
    def gap_without(self) -> float:
        """The gap without privacy."""
        return max(group.without for group in self.groups) - min(group.without for group in self.groups)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        groups = [
            {"group": g.name, "rows": g.rows, "without": g.without, "rates": [list(draws) for draws in g.rates]}
            for g in self.groups
        ]
        gaps = {"without": self.gap_without, "means": list(self.gaps)}
        return {
            "model": self.model,
            "rate": self.rate,
            "epsilons": list(self.epsilons),
            "groups": groups,
            "gaps": gaps,
        }

    def __str__(self) -> str:
        lines = [f"{self.rate} of {self.model}, of 100, by ε and without privacy:"]
        lines.append(f"{'ε':>12}" + "".join(f"{epsilon:>9}" for epsilon in self.epsilons) + f"{'without':>10}")
        table = [(group.name, group.means, group.without) for group in self.groups]
        for name, means, without in [*table, ("gap", self.gaps, self.gap_without)]:
            lines.append(
                f"{name[:12]:>12}" + "".join(f"{100 * mean:9.1f}" for mean in means) + f"{100 * without:10.1f}"
            )
        return "\n".join(lines)

    def plot(self) -> Any:
        """The rate of each group against ε, with all draws between the ends of its bar."""
        from discreet.plot.cost import CostLine, cost_picture

        numbers = tuple(float(amounts.epsilon(epsilon)) for epsilon in self.epsilons)
        lines = [
            CostLine(g.name, numbers, g.means, tuple(map(min, g.rates)), tuple(map(max, g.rates)), g.without)
            for g in self.groups
        ]
        caption = (
            "Public data. Points are means over draws, bars reach from the least to the largest; dotted: no privacy."
        )
        return cost_picture(
            lines, title=f"What privacy costs each group: {self.model}", measure=self.rate, caption=caption
        )


def fairness_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    by: Any,
    rate: str = "tpr",
    epsilons: Sequence[Any] = EPSILONS,
    draws: int = 5,
    test: Any = "0.3",
    positive: Any = None,
    seed: int = 0,
) -> FairnessCurve:
    """Fit a classifier to public rows at several ε, several times each, and compare a rate of the groups on the rest.

    `by` is a column of X, or the group of each row.
    """
    if not isinstance(estimator, Classifier) or estimator.ledger is not None:
        fix = "Give a classifier of dp.learn without a ledger: these rows are public."
        raise bad("estimator", "must be a classifier of dp.learn that charges no ledger", type(estimator).__name__, fix)
    if rate not in RATES:
        raise bad("rate", f"must be one of {', '.join(RATES)}", rate, "Give rate='tpr'.")
    columns, target = columns_of(X), np.asarray(y)
    group = np.asarray(columns[by] if isinstance(by, str) else by)
    is_test = generator(seed).random(len(target)) < float(amounts.inner_probability(test, "test"))
    count = amounts.count(draws, "draws", 1, 1000)
    names = sorted({str(name) for name in group[is_test]})
    masks = [is_test & (group.astype(str) == name) for name in names]
    value = estimator.classes[1] if positive is None else positive

    def rates(epsilon: Any) -> list[float]:
        fitted = clone(estimator).set_params(epsilon=epsilon)
        fitted.fit({name: column[~is_test] for name, column in columns.items()}, target[~is_test])
        return [rate_of(rate, target[own], fitted.predict(_rows(columns, own)), value) for own in masks]

    without = rates(WITHOUT)
    series = [[rates(epsilon) for _ in range(count)] for epsilon in epsilons]
    curves = tuple(
        GroupCurve(name, int(own.sum()), without[place], tuple(tuple(d[place] for d in draws_) for draws_ in series))
        for place, (name, own) in enumerate(zip(names, masks, strict=True))
    )
    return FairnessCurve(type(estimator).__name__, rate, tuple(str(epsilon) for epsilon in epsilons), curves)


def _rows(columns: dict[str, Any], own: Bools) -> dict[str, Any]:
    return {name: column[own] for name, column in columns.items()}


def rate_of(rate: str, target: Any, predicted: Any, positive: Any) -> float:
    """The rate on public rows; NaN where there is no row to look at."""
    if rate == "accuracy":
        hits = predicted == target
    else:
        hits = predicted[target == positive if rate == "tpr" else target != positive] == positive
    return float(np.mean(hits)) if len(hits) else float("nan")
