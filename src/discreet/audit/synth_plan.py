"""Audit a planned synthetic table: all numbers that a build measures, on invented persons, for the whole price.

Categories with as many cells stand in for the columns; unit, rows of a unit, relation, method and price are those of
the plan, and so are kernel, weights, shares and noise.  Scores are taken against the belief that everybody is in one
cell.  A build measures the pairs that its scores favour; here the first few stand for them.

Of each run the widest numbers are looked at, and the log-odds of all: Σ (|y − x′| − |y − x|)/b for Laplace noise and
Σ ((y − x′)² − (y − x)²)/2σ² for Gaussian, by which the best event of every size is a threshold (Neyman & Pearson 1933).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.audit.bounds import ALPHA
from discreet.audit.features import Outputs
from discreet.audit.plans import AuditedPlan
from discreet.audit.report import Row
from discreet.audit.runs import outputs
from discreet.audit.trial import LEAST_RUNS, RUNS, audit
from discreet.errors import bad
from discreet.kernel.contract import kernel_of
from discreet.kernel.rows import UnitRows
from discreet.mechanism.additive import Additive, Law
from discreet.mechanism.vectors import Vectors, vectors
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM, Source
from discreet.relation import Relation
from discreet.schema import Column, Schema, Type, Unit
from discreet.synth.measured.expected import Expected
from discreet.synth.measuring import divided_share, pair_distances
from discreet.synth.plan import KERNEL, SCORES, SINGLES, SynthPlan, plan_of, weights
from discreet.synth.subject import subject_of
from discreet.synth.task import SynthTask

Persons = tuple[tuple[tuple[int, ...], ...], ...]
_PAIRS = 10
_MOST_NUMBERS = 2 * 10**7  # of all runs of one side together
_WIDEST = 7  # numbers that are looked at one by one


def synthesis(planned: SynthTask | SynthPlan, *, runs: Any = RUNS, **price: Any) -> AuditedPlan:
    """The measurements of a planned synthetic table, on invented persons.

    Give a plan, or a table to be synthesised as `dataset.synthesize(…)` describes it and what `.plan` takes: epsilon=1.
    """
    size = amounts.whole(runs, "runs", LEAST_RUNS, RUNS * 100, such_as=RUNS)
    plan = planned.plan(**price) if isinstance(planned, SynthTask) else planned
    if not isinstance(plan, SynthPlan):
        fix = "Give dataset.synthesize(…) and a price: dp.audit.synthesis(dataset.synthesize(), epsilon=1)."
        raise bad("planned", "must be a synthetic table that is planned", type(planned).__name__, fix)
    steps = Steps(twin_of(plan))
    numbers = sum(counts.size for counts in steps.exact(()))
    affordable = min(size, _MOST_NUMBERS // numbers)
    if affordable < LEAST_RUNS:
        fix = "Audit fewer columns, or columns of fewer cells."
        raise bad("planned", f"must measure at most {_MOST_NUMBERS // LEAST_RUNS:,} numbers", f"{numbers:,}", fix)
    pairs = steps.neighbours()
    rows = [_row(steps, first, second, affordable, ALPHA / len(pairs)) for first, second in pairs]
    return AuditedPlan("synthesis", (max(rows, key=lambda row: (row.is_refuted, row.lower_bound)),))


def twin_of(plan: SynthPlan) -> SynthPlan:
    """The same plan for categories with as many cells."""
    of, schema = plan.subject, plan.subject.schema
    columns = tuple(
        Column(f"c{place}", Type.CATEGORY, values=tuple(map(str, range(column.cells))))
        for place, column in enumerate(of.columns)
    )
    invented = Schema("audited", columns, Unit("who", schema.max_rows), relation=schema.relation)
    return plan_of(subject_of(invented), plan.price, method=plan.method, max_cells=plan.max_cells, rows=plan.rows)


@dataclass(frozen=True)
class Steps:
    """Everything that a build of this plan measures."""

    plan: SynthPlan

    @cached_property
    def publics(self) -> dict[str, dict[str, Any]]:
        """What each step counts, each cell a group of its own."""
        subject, plan = self.plan.subject, self.plan
        publics = {"singles": plan.singles_public()}
        if plan.with_pairs:
            groups, pairs = [np.arange(size) for size in subject.sizes], plan.pairs[:_PAIRS]
            shapes = [(subject.sizes[left], subject.sizes[right]) for left, right in pairs]
            publics["scores"] = subject.public(groups, plan.pairs, [subject.steps] * len(plan.pairs))
            publics["columns"] = plan.singles_public()
            publics["pairs"] = subject.public(groups, pairs, weights(plan, shapes).tolist())
        return publics

    @cached_property
    def mechanism(self) -> Vectors:
        """The noise of all steps side by side, as a build plans it."""
        plan, publics = self.plan, self.publics
        noises: dict[str, Additive] = {"singles": plan.mechanism(publics["singles"], plan.singles_share)}
        if plan.with_pairs:
            noises["scores"] = plan.score_mechanism()
            tables = {name: publics[name] for name in ("columns", "pairs")}
            shares = divided_share(plan, tables, 1 - SINGLES - SCORES)
            noises |= {name: plan.mechanism(tables[name], share) for name, share in zip(tables, shares, strict=True)}
        return vectors(noises)

    def exact(self, persons: Persons) -> tuple[Ints, ...]:
        """What every step computes on these persons' rows."""
        return tuple(self._step(name, persons) for name in self.publics)

    def neighbours(self) -> list[tuple[Persons, Persons]]:
        """Persons, and what one of them can make of it: comes, comes with all rows, or goes for another."""
        columns = len(self.plan.subject.columns)
        first, other, absent = (0,) * columns, (1,) * columns, (-1,) * columns
        sizes = self.plan.subject.sizes[:columns]
        rows = self.plan.subject.schema.max_rows
        varied = tuple(tuple(row % max(1, size - 1) for size in sizes) for row in range(rows))
        last = tuple(max(0, size - 2) for size in sizes)
        person, everything = (first,), (varied, (last,) * rows, (other if min(sizes) > 2 else first,), (absent,))
        if self.plan.subject.schema.relation is Relation.ADD_REMOVE:
            return [(start, (*start, new)) for start in ((), (person, person)) for new in everything]
        return [((person, person), (person, new)) for new in everything if new != person]

    def _step(self, name: str, persons: Persons) -> Ints:
        counts = self._counts(self.publics[name], persons)
        if name != "scores":
            return counts
        told = [np.eye(size)[0] for size in self.plan.subject.sizes]
        return pair_distances(counts, self.plan.pairs, Expected(told), 2.0 * self.plan.subject.steps)

    def _counts(self, public: dict[str, Any], persons: Persons) -> Ints:
        columns = [column.name for column in self.plan.subject.columns]
        rows = np.array([row for person in persons for row in person], dtype=np.int64).reshape(-1, len(columns))
        starts = np.cumsum([0, *map(len, persons)])[: len(persons)].astype(np.int64)
        cells = {name: rows[:, place] for place, name in enumerate(columns)}
        return kernel_of(KERNEL)(UnitRows(cells, starts, len(rows)), public)


def _row(steps: Steps, first: Persons, second: Persons, runs: int, alpha: float) -> Row:
    """One pair, by the log-odds of all its numbers and by the widest of them."""
    sides = steps.exact(first), steps.exact(second)
    before, after = (np.concatenate(side) for side in sides)
    laws = [mechanism.noise for mechanism in steps.mechanism.mechanisms.values()]
    widths = np.concatenate([np.full(own.size, _width(law)) for own, law in zip(sides[0], laws, strict=True)])
    is_laplace = isinstance(laws[0], DiscreteLaplace)  # all steps have one law
    moved = np.flatnonzero(before != after)
    widest = moved[np.argsort(-(np.abs(after - before) / widths)[moved], kind="stable")[:_WIDEST]]

    def draw(exact: Any, n: int, source: Source) -> Outputs:
        noisy = outputs(steps.mechanism, exact, n, source)
        own, other = ((noisy[:, moved] - side[moved]) / widths[moved] for side in (before, after))
        odds = np.abs(other) - np.abs(own) if is_laplace else (other**2 - own**2) / 2
        return np.column_stack([odds.sum(axis=1), noisy[:, widest]])

    return audit("synthesis", steps.plan.cost, draw=draw, pairs=(sides,), runs=runs, alpha=alpha, source=SYSTEM)


def _width(law: Law) -> float:
    return float(law.scale if isinstance(law, DiscreteLaplace) else law.sigma)
