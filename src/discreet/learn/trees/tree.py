"""One tree in two steps: noisy tables of each feature choose its tests, then its leaves are counted with noise.

    tables    0.3 of the price    a table class × cell for each feature; tests follow from them for nothing (`greedy`)
    leaves    0.7 of the price    counts by class and leaf: l1 = l2 = 1 a row (add-remove)

All leaves of a level share a test, so a tree of depth d has 2^d leaves and d tests, and can be read.  Proof page:
docs/proofs/learn/trees.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.kernel.leaves import Trees
from discreet.learn.counts.tables import Tables, tables_of
from discreet.learn.learner import PricedPlan, Released
from discreet.learn.price import Price
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject, require_classes
from discreet.learn.trees.forest import depth_for, depth_of, leaf_deviation, leaves_public, require_pass
from discreet.learn.trees.greedy import greedy_tests
from discreet.learn.trees.leaf_rates import LeafModel, leaf_model

TABLES_SHARE = Fraction(3, 10)
_TABLE = "table "  # before the name of a feature, so that no feature is called like a part of the tree


@dataclass(frozen=True)
class TreeLearner:
    """One tree of at most that depth, which follows from the price unless given."""

    depth: int | None = None
    name = "decision tree"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {"depth": self.depth}

    def plan(self, subject: Subject, price: Price) -> "TreePlan":
        """As `Learner.plan`: the law of the noise is that with the smaller variance in the tables."""
        require_classes(subject)
        candidates = price.laws()
        plans = [self._plan(subject, candidate) for candidate in candidates]
        plan = min(plans, key=lambda plan: plan.tables.deviation)
        require_pass(subject, 1, plan.depth)
        return plan

    def _plan(self, subject: Subject, price: Price) -> "TreePlan":
        deviation = leaf_deviation(subject, price, 1 - TABLES_SHARE, 1)
        depth = depth_for(deviation, subject, 1) if self.depth is None else self.depth
        return TreePlan(subject, price, tables_of(subject, price, TABLES_SHARE), depth, deviation)


def tree_of(depth: Any) -> TreeLearner:
    """A tree with the options that a caller gave."""
    return TreeLearner(depth_of(depth))


@dataclass(frozen=True)
class TreePlan(PricedPlan):
    """The tables, the depth of the tree, and the noise of its leaves."""

    tables: Tables
    depth: int
    deviation: float

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        leaves = f"counts by class and leaf of a tree with at most {2**self.depth} leaves"
        return (self.tables.words, f"{leaves}, with {self.price.law} noise of standard deviation {self.deviation:.3g}")

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`; the tests are kept, so that they are the same wherever the model is read."""
        tables = self.tables.measure(steps)
        ordered = [feature.is_number for feature in self.subject.features]
        tests, sides = greedy_tests(self.tables.rates(tables), ordered, self.depth)
        public = leaves_public(self.subject, self.tables.bins, tests, sides)
        leaves = steps.sum("leaves", "leaves", public, 1 - TABLES_SHARE)
        own = {_TABLE + name: table for name, table in tables.items()}
        return {**own, "tests": tests, "sides": sides, "leaves": leaves}

    def model(self, released: Released) -> LeafModel:
        """As `Plan.model`."""
        tests, sides = (np.asarray(released[name], dtype=np.int64) for name in ("tests", "sides"))
        public = leaves_public(self.subject, self.tables.bins, tests, sides)
        return leaf_model(self.subject, Trees.parse(public), released["leaves"], self.deviation)
