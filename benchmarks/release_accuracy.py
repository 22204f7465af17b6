"""How exact each method is on real trees: L1, EMD, false positives and broken rules on every level, averaged over runs.

    M_H…   noise of scale 2L/ε on the numbers of groups of each size
    M_c…   noise of scale L/ε on the numbers of groups of at least each size

The unit is a person inside a group.  All is measured as the product measures it, every number of it noisy, and fitted
by the product's own choice of method or by what it is compared with, each given the same public totals: none, the one
at the top, or those of all leaves.  The tables are public, so errors may be shown.  `without_total` compares what the
top is held to where no total is public.  `margins` tells how often the approximate ± of fitted numbers holds, beside
the proven ± of the estimates.
"""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from tests.release.error import Measures, measures
from tests.release.fits import countofcounts, hay

from benchmarks.release_data import Exact
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.release import plan as release_plan
from discreet.release.fit import choice, duals, integer
from discreet.release.known import NOTHING, Known
from discreet.release.measure import Form, from_top
from discreet.release.plan import ReleasePlan
from discreet.release.release import Release
from discreet.release.resimulated import candidate_tables, radii
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import from_branches, tree_sums
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms

SMALL = 10  # below this a count is called small
PRODUCTS = (
    ("M_c^joint, the default", Form.FROM_TOP, "joint"),
    ("M_c^dp", Form.FROM_TOP, "cumulative"),
    ("M_H^dp integer", Form.PLAIN, "integer"),
    ("M_H^dp by flows", Form.PLAIN, "flow"),
    ("top-down", Form.PLAIN, "topdown"),
    ("InfTDA", Form.PLAIN, "chebyshev"),
)


class Public(StrEnum):
    """What is public of the number of groups; every method is given the same."""

    NOTHING = "nothing"
    TOP = "the total"
    LEAVES = "every leaf's total"


@dataclass(frozen=True)
class Score:
    """A method's mean figures over runs, a number for each level, and the standard errors of the lowest ones.

    `emd` sums cells from the smallest size on, so that a group too few is one of the largest size; `people` sums the
    lowest level's from the largest size on, so that it is one of nobody: how many people are in groups of a wrong size.
    """

    public: Public
    method: str
    epsilon: str
    l1: tuple[float, ...]
    emd: tuple[float, ...]
    false_positives: tuple[float, ...]
    people: float
    violations: float
    error: float
    emd_error: float


def scores(exact: Exact, epsilons: tuple[str, ...], runs: int) -> list[Score]:
    """Every method on the same draws, for each kind of public knowledge."""
    scores = []
    for epsilon in epsilons:
        results: dict[tuple[Public, str], list[tuple[Measures, ...]]] = {}
        people: dict[tuple[Public, str], list[float]] = {}
        plans = {form: plan_of(exact, epsilon, form) for form in Form}
        for _ in range(runs):
            draws = {form: plan.measurement(exact.table[exact.tree.leaves], SYSTEM) for form, plan in plans.items()}
            for public in Public:
                known = known_of(exact, public)
                for name, table in _released(plans, draws, known):
                    measured = measures(
                        exact.tree, exact.table, table, total=known.total, leaf_totals=known.leaf_totals
                    )
                    results.setdefault((public, name), []).append(measured)
                    people.setdefault((public, name), []).append(_people(exact, table))
        scores += [_score(*kind, epsilon, each, people[kind]) for kind, each in results.items()]
    return sorted(scores, key=lambda score: list(Public).index(score.public))


def _people(exact: Exact, table: Ints) -> float:
    lowest = exact.tree.leaves
    return float(np.abs(from_top(table[lowest]) - from_top(exact.table[lowest])).sum())


def known_of(exact: Exact, public: Public) -> Known:
    """The exact numbers of groups that are public."""
    if public is Public.NOTHING:
        return NOTHING
    leaf_totals = exact.table[exact.tree.leaves].sum(axis=1) if public is Public.LEAVES else None
    return Known(total=exact.total, leaf_totals=leaf_totals)


def _score(public: Public, method: str, epsilon: str, runs: list[tuple[Measures, ...]], people: list[float]) -> Score:
    def mean(field: str) -> tuple[float, ...]:
        return tuple(statistics.fmean(getattr(score, field) for score in level) for level in zip(*runs, strict=True))

    broken = statistics.fmean(sum(score.violations.count for score in run) for run in runs)
    errors = _error([run[-1].l1 for run in runs]), _error([run[-1].emd for run in runs])
    means = mean("l1"), mean("emd"), mean("false_positives"), statistics.fmean(people)
    return Score(public, method, epsilon, *means, broken, *errors)


def _released(
    plans: Mapping[Form, ReleasePlan], draws: Mapping[Form, Ints], known: Known
) -> Iterator[tuple[str, Ints]]:
    """All that is made of one draw of each measurement by whoever knows so much."""
    plain, above = draws[Form.PLAIN], draws[Form.FROM_TOP]
    for name, form, method in PRODUCTS:
        plan = replace(plans[form], known=known, method=method)
        if method in choice.methods(plan.subject, known):
            yield name, choice.table_of(plan, draws[form])
    tree, weights = plans[Form.PLAIN].subject.tree, plans[Form.PLAIN].weights
    if known.leaf_totals is not None:
        rising = np.ascontiguousarray(above[:, ::-1])
        rising[:, -1] = known.totals(tree)
        yield "Kuo-style", countofcounts.fitted(tree, rising, weights, known.leaf_totals)[:, ::-1]
        return
    held = choice.top_total(replace(plans[Form.PLAIN], known=known), plain)
    yield "M_H^r rounded", np.rint(duals.projection(tree, plain, weights, total=held)).astype(np.int64)
    if known.total is None:
        yield "M_H raw", plain
        yield "Hay, rounded", np.rint(hay.estimates(tree, plain, weights).values).astype(np.int64)


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


def _noise(scale: Fraction, shape: tuple[int, ...]) -> Ints:
    return DiscreteLaplace(scale).draw(int(np.prod(shape)), SYSTEM).reshape(shape)


def without_total(exact: Exact, epsilons: tuple[str, ...], runs: int) -> list[Top]:
    """The nearest table of all and the nearest that has the measured total, of the same draws of M_H."""
    tree, tops = exact.tree, []
    weights = np.ones(len(tree), dtype=np.int64)
    for epsilon in epsilons:
        errors: dict[str, list[list[float]]] = {}
        for _ in range(runs):
            noisy = exact.table + _noise(2 * tree.depth / Fraction(epsilon), exact.table.shape)
            for held, total in (("nothing", None), ("the measured total", max(0, int(noisy[0].sum())))):
                table = integer.fit(tree, noisy, weights, total=total)
                off = abs(int(table[0].sum()) - exact.total)
                errors.setdefault(held, []).append([*(error.l1 for error in measures(tree, exact.table, table)), off])
        for held, each in errors.items():
            *l1, total_off = (statistics.fmean(column) for column in zip(*each, strict=True))
            tops.append(Top(held, epsilon, tuple(l1), total_off, _error([run[-2] for run in each])))
    return tops


def _error(numbers: list[float]) -> float:
    """The standard error of their mean."""
    return statistics.stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0


# --- margins ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Margin:
    """How often intervals of a level hold the exact number, and how wide they are once cut at 0: means over draws.

    `held` is the share of all cells, with its standard error; `empty`, `below_10` and `large` are those whose exact
    number is 0, below 10, and the rest, NaN where there is none; `totals` is the share of the places' totals.
    """

    form: str
    epsilon: str
    level: str
    interval: str
    held: float
    error: float
    empty: float
    below_10: float
    large: float
    totals: float
    width: float


def margins(exact: Exact, epsilons: tuple[str, ...], draws: int, runs: int = 99) -> list[Margin]:
    """Proven intervals, those of re-simulation, and what they would be by each cell's own errors alone."""
    results = []
    for form in Form:
        for epsilon in epsilons:
            plan = plan_of(exact, epsilon, form)
            each = [_intervals(exact, plan, runs) for _ in range(draws)]
            results += [
                _margin(exact, (str(form), epsilon), level, name, [draw[name] for draw in each])
                for level in range(exact.tree.depth)
                for name in each[0]
            ]
    return results


def plan_of(exact: Exact, epsilon: str, form: Form) -> ReleasePlan:
    """A release of these sizes, each person protected."""
    tree = exact.tree
    places = Hierarchy("places", tree.levels, branches=tuple(tree.path(int(leaf)) for leaf in tree.leaves))
    columns = [Column(tree.levels[-1], "category", values=places.leaves), Column("group", "text")]
    schema = Schema("public", columns, Unit("person", 1), "add-remove", None, (places,))
    wanted = ReleaseSpec("places", groups="group", largest=exact.table.shape[1], form=form)
    return release_plan.plan_of(subject(wanted, schema), Terms.parse(epsilon))


def part(exact: Exact, every: int) -> Exact:
    """Every so-manieth place below the top, with all that lies in it."""
    tree = exact.tree
    paths = [tree.path(int(leaf)) for leaf in tree.leaves]
    chosen = {tree.names[place] for place in range(tree.first[1], tree.first[2], every)}
    rows = [row for row, path in enumerate(paths) if path[1] in chosen]
    return Exact(
        f"{exact.name}, 1 of {every} below the top",
        smaller := from_branches(tree.levels, [paths[row] for row in rows]),
        tree_sums(smaller, exact.table[tree.leaves][rows]),
    )


def with_people(exact: Exact) -> Exact:
    """Without the groups of size 0, which have no row."""
    return Exact(exact.name, exact.tree, np.ascontiguousarray(exact.table[:, 1:]))


def _intervals(exact: Exact, plan: ReleasePlan, runs: int) -> dict[str, tuple[Ints, Ints]]:
    """Lower and upper ends, the totals in the last column."""
    release = Release(plan, plan.measurement(exact.table[exact.tree.leaves], SYSTEM))
    radii_of_tables = [radii(plan, table, runs=runs) for table in candidate_tables(plan, release.noisy)]
    alone, both = radii_of_tables[0][0], np.max([np.maximum(*each) for each in radii_of_tables], axis=0)
    fitted, totals, wide = _with_totals(release.fitted), release.totals, release.total_radius
    return {
        "proven": (np.column_stack([release.low, totals - wide]), np.column_stack([release.high, totals + wide])),
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
        below_10=share((counts > 0) & (counts < SMALL)),
        large=share(counts >= SMALL),
        totals=float(holds[..., -1].mean()),
        width=float(np.mean([wide[:, :-1].mean() for wide in widths])),
    )
