"""How exact each method is on real trees: L1, EMD, false positives and broken rules on every level, averaged over runs.

    M_H…   noise of scale 2L/ε on the numbers of groups of each size
    M_c…   noise of scale L/ε on the numbers of groups of at least each size

The unit is a person inside a group.  The tables are public, so errors may be shown.  `without_total` compares what the
top is held to where no total is public.  `margins` tells how often the approximate ± of fitted numbers holds, beside
the proven ± of the estimates.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.release_data import Exact
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.release import leastsquares
from discreet.release.error import measures
from discreet.release.fit import chebyshev, countofcounts, cumulative, integer, joint, prices, topdown
from discreet.release.measure import Form, from_top
from discreet.release.plan import ReleasePlan, planned
from discreet.release.release import Release
from discreet.release.resimulated import radii, tried
from discreet.release.subject import Wanted, subject
from discreet.release.tree import from_branches, summed
from discreet.schema import Column, Hierarchy, Schema, Unit

Ints = NDArray[np.int64]
SMALL = 10  # below this a count is called small


@dataclass(frozen=True)
class Score:
    """A method's mean figures over runs, a number for each level, and the standard error of the lowest L1."""

    method: str
    epsilon: str
    l1: tuple[float, ...]
    emd: tuple[float, ...]
    false_positives: tuple[float, ...]
    violations: float
    error: float


def scores(exact: Exact, epsilons: tuple[str, ...], runs: int) -> list[Score]:
    """Every method on the same draws."""
    found = []
    for epsilon in epsilons:
        results: dict[str, list[tuple[object, ...]]] = {}
        for _ in range(runs):
            for name, table in _released(exact, Fraction(epsilon)):
                results.setdefault(name, []).append(measures(exact.tree, exact.table, table, total=exact.total))
        found += [_score(name, epsilon, each) for name, each in results.items()]
    return found


def _score(method: str, epsilon: str, runs: list[tuple[object, ...]]) -> Score:
    def mean(field: str) -> tuple[float, ...]:
        return tuple(statistics.fmean(getattr(one, field) for one in level) for level in zip(*runs, strict=True))

    lowest = [run[-1].l1 for run in runs]  # type: ignore[attr-defined]
    broken = statistics.fmean(sum(one.violations.count for one in run) for run in runs)  # type: ignore[attr-defined]
    return Score(method, epsilon, mean("l1"), mean("emd"), mean("false_positives"), broken, _error(lowest))


def _released(exact: Exact, epsilon: Fraction) -> list[tuple[str, Ints]]:
    """One draw of each measurement and all that is made of it."""
    tree, total = exact.tree, exact.total
    weights = np.ones(len(tree), dtype=np.int64)
    plain = exact.table + _noise(2 * tree.depth / epsilon, exact.table.shape)
    tail = from_top(exact.table)
    above = tail + _noise(tree.depth / epsilon, tail.shape)
    above[:, 0] = tail[:, 0]  # the number of groups of a place does not change with a person: public here
    rising = np.ascontiguousarray(above[:, ::-1])
    leaf_totals = tail[tree.leaves, 0]
    methods: list[tuple[str, Callable[[], Ints]]] = [
        ("M_H raw", lambda: plain),
        ("M_H^r rounded", lambda: np.rint(prices.projected(tree, plain, weights, total=total)).astype(np.int64)),
        ("M_H^dp integer", lambda: integer.fitted(tree, plain, weights, total=total)),
        ("Hay, rounded", lambda: np.rint(leastsquares.estimated(tree, plain, weights).values).astype(np.int64)),
        ("top-down", lambda: topdown.fitted(tree, plain, weights, total=total)),
        ("InfTDA", lambda: chebyshev.fitted(tree, plain, weights, total=total)),
        ("M_c^dp", lambda: _from_differences(exact, cumulative.differences(tree, rising, total=total), weights)),
        ("M_c^joint", lambda: _from_differences(exact, joint.differences(tree, rising, weights, total=total), weights)),
        ("M_c^joint, dealt", lambda: joint.whole(tree, rising, weights, total=total)[:, ::-1]),
        ("Kuo-style", lambda: countofcounts.fitted(tree, rising, weights, leaf_totals)[:, ::-1]),
    ]
    return [(name, method()) for name, method in methods]


def _from_differences(exact: Exact, found: cumulative.Scaled, weights: Ints) -> Ints:
    values = np.ascontiguousarray(found.values[:, ::-1])
    return integer.fitted(exact.tree, values, weights, scale=found.scale, total=exact.total)


def _noise(scale: Fraction, shape: tuple[int, ...]) -> Ints:
    return DiscreteLaplace(scale).drawn(int(np.prod(shape)), SYSTEM).reshape(shape)


# --- without a public total ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Top:
    """What the top is held to, and means over runs: L1 of each level, how far the total is off, and the standard error
    of the lowest L1."""

    held: str
    epsilon: str
    l1: tuple[float, ...]
    total: float
    error: float


def without_total(exact: Exact, epsilons: tuple[str, ...], runs: int) -> list[Top]:
    """The nearest table of all and the nearest that has the measured total, of the same draws of M_H."""
    tree, found = exact.tree, []
    weights = np.ones(len(tree), dtype=np.int64)
    for epsilon in epsilons:
        errors: dict[str, list[list[float]]] = {}
        for _ in range(runs):
            noisy = exact.table + _noise(2 * tree.depth / Fraction(epsilon), exact.table.shape)
            for held, total in (("nothing", None), ("the measured total", max(0, int(noisy[0].sum())))):
                table = integer.fitted(tree, noisy, weights, total=total)
                off = abs(int(table[0].sum()) - exact.total)
                errors.setdefault(held, []).append([*(one.l1 for one in measures(tree, exact.table, table)), off])
        for held, each in errors.items():
            *l1, total_off = (statistics.fmean(column) for column in zip(*each, strict=True))
            found.append(Top(held, epsilon, tuple(l1), total_off, _error([run[-2] for run in each])))
    return found


def _error(numbers: list[float]) -> float:
    """The standard error of their mean."""
    return statistics.stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0


# --- margins ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Margin:
    """How often intervals of a level hold the exact number, and how wide they are once cut at 0: means over draws.

    `held` is the share of all cells, with its standard error; `empty`, `small` and `large` are those whose exact number
    is 0, below 10, and the rest, NaN where there is none; `totals` is the share of the places' totals.
    """

    form: str
    epsilon: str
    level: str
    interval: str
    held: float
    error: float
    empty: float
    small: float
    large: float
    totals: float
    width: float


def margins(exact: Exact, epsilons: tuple[str, ...], draws: int, runs: int = 99) -> list[Margin]:
    """Proven intervals, those of re-simulation, and what they would be by each cell's own errors alone."""
    found = []
    for form in Form:
        for epsilon in epsilons:
            plan = plan_of(exact, epsilon, form)
            each = [_intervals(exact, plan, runs) for _ in range(draws)]
            found += [
                _margin(exact, (str(form), epsilon), level, name, [draw[name] for draw in each])
                for level in range(exact.tree.depth)
                for name in each[0]
            ]
    return found


def plan_of(exact: Exact, epsilon: str, form: Form) -> ReleasePlan:
    """A release of these sizes, each person protected."""
    tree = exact.tree
    places = Hierarchy("places", tree.levels, branches=tuple(tree.path(int(leaf)) for leaf in tree.leaves))
    columns = [Column(tree.levels[-1], "category", values=places.leaves), Column("group", "text")]
    schema = Schema("public", columns, Unit("person", 1), "add-remove", None, (places,))
    wanted = Wanted("places", groups="group", largest=exact.table.shape[1], form=form)
    return planned(subject(wanted, schema), epsilon=epsilon)


def part(exact: Exact, every: int) -> Exact:
    """Every so-manieth place below the top, with all that lies in it."""
    tree = exact.tree
    paths = [tree.path(int(leaf)) for leaf in tree.leaves]
    chosen = {tree.names[place] for place in range(tree.first[1], tree.first[2], every)}
    rows = [row for row, path in enumerate(paths) if path[1] in chosen]
    return Exact(
        f"{exact.name}, 1 of {every} below the top",
        smaller := from_branches(tree.levels, [paths[row] for row in rows]),
        summed(smaller, exact.table[tree.leaves][rows]),
    )


def with_people(exact: Exact) -> Exact:
    """Without the groups of size 0, which have no row."""
    return Exact(exact.name, exact.tree, np.ascontiguousarray(exact.table[:, 1:]))


def _intervals(exact: Exact, plan: ReleasePlan, runs: int) -> dict[str, tuple[Ints, Ints]]:
    """Lower and upper ends, the totals in the last column."""
    made = Release(plan, plan.measurement(exact.table[exact.tree.leaves], SYSTEM))
    found = [radii(plan, table, runs=runs) for table in tried(plan, made.noisy)]
    alone, both = found[0][0], np.max([np.maximum(*each) for each in found], axis=0)
    fitted, totals, wide = _with_totals(made.fitted), made.totals, made.total_radius
    return {
        "proven": (np.column_stack([made.low, totals - wide]), np.column_stack([made.high, totals + wide])),
        "re-simulated": (fitted - both, fitted + both),
        "of its own runs": (fitted - alone, fitted + alone),
    }


def _with_totals(table: Ints) -> Ints:
    return np.hstack([table, table.sum(axis=1, keepdims=True)])


def _margin(exact: Exact, of: tuple[str, str], level: int, name: str, draws: list[tuple[Ints, Ints]]) -> Margin:
    here, true = exact.tree.places(level), _with_totals(exact.table)[exact.tree.places(level)]
    holds = np.stack([(low[here] <= true) & (true <= high[here]) for low, high in draws])
    cells, counts = holds[..., :-1], true[:, :-1]
    widths = [np.maximum(high[here], 0) - np.maximum(low[here], 0) for low, high in draws]
    each = cells.mean(axis=(1, 2))

    def share(which: NDArray[np.bool_]) -> float:
        return float(cells[:, which].mean()) if which.any() else float("nan")

    return Margin(
        *of,
        exact.tree.levels[level],
        name,
        held=float(each.mean()),
        error=float(each.std(ddof=1) / len(draws) ** 0.5) if len(draws) > 1 else 0.0,
        empty=share(counts == 0),
        small=share((counts > 0) & (counts < SMALL)),
        large=share(counts >= SMALL),
        totals=float(holds[..., -1].mean()),
        width=float(np.mean([wide[:, :-1].mean() for wide in widths])),
    )
