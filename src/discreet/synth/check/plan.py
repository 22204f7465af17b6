"""Plan a check at a price: what is asked, with which share each, and the ± that each number will have.

    2    count              how many units are compared; the rest is scaled by this noisy number
    1    cells              mean distance of single columns by their cells
    1    columns            the same by groups of cells
    1    pairs              of pairs
    1    triples            of triples
    1    correlation        mean gap of the correlations of numeric columns
    2    each column        the distance of each column, where its ± would be at most 0.05
    3    each pair          of each pair, where at most 0.1
    3    each correlation   of two numeric columns each, where at most 0.2
    2    classes, 2 area    of a model of the synthetic rows, where a target is named

Parts of ε under Laplace noise, of 1/σ² under Gaussian; what is not asked leaves its parts to the rest.  Whether a ±
would be small enough is judged at the number of units that the build released: all of this is public.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.bounded import Sensitivity
from discreet.kernel.contract import kernel_of
from discreet.learn.heldout.auc import BINS
from discreet.learn.heldout.interval import Law, share_moe
from discreet.learn.heldout.metrics import Auc, metric_of
from discreet.learn.heldout.trial import Trial
from discreet.learn.price import Price
from discreet.mechanism.additive import Additive
from discreet.privacy.cost import Cost
from discreet.relation import Relation
from discreet.synth.build import Build
from discreet.synth.check.distances import GRAINS, each_sensitivity, mean_sensitivity, unit_step
from discreet.synth.check.persons import Persons
from discreet.synth.check.products import LARGEST, SCALE, Products, products_of
from discreet.synth.check.tables import ORDERS, STEPS, SyntheticCounts, Tables, tables_of
from discreet.synth.plan import KERNEL

COUNT, MEANS, GAP, CLASSES, AREA = "count", tuple(ORDERS), "correlation", "classes", "area"
EACH = {"each column": "cells", "each pair": "pairs", "each correlation": GAP}
WEIGHTS = {COUNT: 2, **dict.fromkeys(MEANS, 1), GAP: 1, "each column": 2, "each pair": 3, "each correlation": 3}
WEIGHTS |= {CLASSES: 2, AREA: 2}
LIMITS = {"each column": 0.05, "each pair": 0.1, "each correlation": 0.2}
_MOST_EACH = 2_000  # numbers of one kind


@dataclass(frozen=True, eq=False)
class Compared:
    """What is compared of one build: its tables and products, and the trial of a model; public, whatever the price."""

    build: Build
    persons: Persons
    synthetic: SyntheticCounts
    tables: dict[str, Tables]
    products: Products | None
    trial: Trial | None

    @cached_property
    def units(self) -> float:
        """About how many units are compared, by the number that the build released."""
        built = self.build.plan.subject.where
        return self.build.synthesis.singles.total * float(self.persons.relative_share(built))

    @cached_property
    def area(self) -> Auc | None:
        """How the area is counted; None where there are more than two classes."""
        if self.trial is None or len(self.trial.classes) != 2:
            return None
        metric = metric_of("auc", self.trial, None, BINS)
        return metric if isinstance(metric, Auc) else None

    @property
    def units_moved(self) -> int:
        """Of how many units rows change between neighbours."""
        return 1 if self.build.plan.subject.limit.relation is Relation.ADD_REMOVE else 2

    @property
    def possible(self) -> list[str]:
        """All that could be asked, in order."""
        names = [COUNT, *(kind for kind in MEANS if self.tables[kind].cliques)]
        names += [GAP] if self.products is not None else []
        names += [name for name, kind in EACH.items() if kind in names and self._says_more(name)]
        names += [] if self.trial is None else [CLASSES]
        return names if self.area is None else [*names, AREA]

    def _says_more(self, name: str) -> bool:
        """Whether numbers of each say more than their mean does, and are not too many."""
        return (1 if EACH[name] == GAP else 2) <= self.numbers(name) <= _MOST_EACH

    def numbers(self, name: str) -> int:
        """How many tables, or pairs of numeric columns, a kind of number is about."""
        kind = EACH.get(name, name)
        if kind == GAP:
            return 0 if self.products is None else len(self.products.tables.cliques)
        return len(self.tables[kind].cliques)

    def step(self, name: str) -> Fraction:
        """How far one unit moves the number of one table."""
        kind = EACH.get(name, name)
        if kind == GAP and self.products is not None:
            return self.products.step(self.units_moved)
        return unit_step(self.tables[kind])

    def grain(self, name: str) -> int:
        """How many steps are released as one: a unit's number is 2^10 of these, whatever it is counted in."""
        return STEPS * (SCALE if EACH.get(name, name) == GAP else 1) // GRAINS

    def scale(self, name: str) -> float:
        """Of what is released, how many for one unit: for a share of 1, or for a correlation of 1."""
        return GRAINS / LARGEST if EACH.get(name, name) == GAP else float(GRAINS)

    def sensitivity(self, name: str) -> Sensitivity:
        """How far one unit moves all numbers of that name."""
        subject = self.build.plan.subject
        if name == COUNT:
            return kernel_of(KERNEL).sensitivity(count_public(self.build), subject.limit)
        if name == CLASSES and self.trial is not None:
            return self.trial.sensitivity(1, 1)
        if name == AREA and self.trial is not None:
            return self.trial.sensitivity(1, 1)
        step = self.step(name) / self.grain(name)
        return each_sensitivity(step, self.numbers(name), subject) if name in EACH else mean_sensitivity(step, subject)


def count_public(build: Build) -> dict[str, Any]:
    """The parameters of the kernel that counts units: one column in one group."""
    subject = build.plan.subject
    groups = [np.zeros(size, dtype=np.int64) for size in subject.sizes]
    return subject.public(groups, [(0,)], [STEPS])


def compared_of(build: Build, persons: Persons, trial: Trial | None) -> Compared:
    """What is compared of a build on these persons."""
    synthetic = SyntheticCounts(build)
    tables = {kind: tables_of(build, kind) for kind in ORDERS}
    return Compared(build, persons, synthetic, tables, products_of(build, synthetic), trial)


@dataclass(frozen=True, eq=False)
class CheckPlan:
    """What is asked at a price."""

    compared: Compared
    price: Price

    @property
    def cost(self) -> Cost:
        """What is charged before the first step."""
        return self.price.cost

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The names of what is asked, the widest ± left out until all that is left is narrow enough."""
        names = self.compared.possible
        while True:
            wide = {name: self.moe(name, names) / LIMITS[name] for name in names if name in LIMITS}
            if not wide or max(wide.values()) <= 1:
                return tuple(names)
            names = [name for name in names if name != max(wide, key=lambda own: wide[own])]

    @property
    def left_out(self) -> tuple[str, ...]:
        """What could be asked and is not, as its ± would be too wide."""
        return tuple(name for name in self.compared.possible if name not in self.asked)

    def share(self, name: str, names: Any = None) -> Fraction:
        """The part of the price that is for one name."""
        chosen = self.asked if names is None else names
        return Fraction(WEIGHTS[name], sum(WEIGHTS[own] for own in chosen))

    def mechanism(self, name: str, names: Any = None) -> Additive:
        """The noise of one name."""
        return self.price.mechanism(self.compared.sensitivity(name), self.share(name, names))

    def radius(self, name: str, names: Any = None) -> float:
        """± of the noise of one name, in steps: half of what the level leaves is for the number of units."""
        level = self.price.terms.level
        return float(self.mechanism(name, names).radius(1 - (1 - level) / 2))

    def moe(self, name: str, names: Any = None) -> float:
        """About the ± of each number of that name at the number of units that the build released."""
        law, units = self.law(name, names), max(self.compared.units, 1.0)
        if name == CLASSES and self.compared.trial is not None:
            classes = len(self.compared.trial.classes)
            return share_moe(round(units), scale=law.scale, level=law.level, numbers=(classes, classes))
        if name == AREA and self.compared.area is not None:
            return self.compared.area.moe(max(round(units), 2), law) or 1.0
        count = self.radius(COUNT, names) / STEPS
        if name == COUNT:
            return float(self.mechanism(COUNT, names).radius(self.price.terms.level)) / STEPS
        return ((self.radius(name, names) + 1) / self.compared.scale(name) + count) / units

    def law(self, name: str, names: Any = None) -> Law:
        """The noise of one name as intervals of shares take it: by its variance."""
        variance = self.mechanism(name, names).variance
        return Law((variance / 2) ** 0.5, variance, self.price.terms.level)
