"""A forest of public trees and noisy leaves: one release of all counts by tree, class and leaf.

The tests of the trees are planted from public facts (`planted`), so they cost nothing; a row is counted once in each of
M trees: l1 = M and l2 = √M (add-remove).  How deep trees are follows from the noise: a leaf with fewer rows than its
noise says nothing.  A class's score is ln π + `emphasis` · what the leaves say on average; for K features `emphasis` is
0.7·K·3/depth, and at least 1.

Geurts, Ernst & Wehenkel (2006) for random tests, Fletcher & Islam (2019) for private forests from them; proof page:
docs/proofs/learn/trees.md.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, log2, sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.engine.passes import kernel_pass
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import Feature
from discreet.kernel.leaves import MOST_DEPTH as MOST_GIVEN_DEPTH
from discreet.kernel.leaves import Trees, require_sides
from discreet.learn.learner import PricedPlan, Released, facts_of
from discreet.learn.price import Price
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject, require_classes
from discreet.learn.trees.leaf_rates import LeafModel, leaf_model
from discreet.learn.trees.planted import IN_A_ROW, planted_tests
from discreet.ndarrays import Ints

BINS, TREES, PURE_TREES = 32, 100, 30
LEAST_DEPTH, MOST_DEPTH = 3, 9
_DEPTH = 1000
_INDEPENDENT = 0.7
_MOST_LEAVES = 2**18  # counts of one release
_MOST_CELLS = 2**25  # counts · rows of a unit, which engines hold


@dataclass(frozen=True)
class ForestLearner:
    """A forest of `trees` trees of that depth; both follow from the price unless given."""

    trees: int | None = None
    depth: int | None = None
    name = "random forest"

    def options(self) -> dict[str, Any]:
        """As `Learner.options`."""
        return {"trees": self.trees, "depth": self.depth}

    def plan(self, subject: Subject, price: Price) -> "ForestPlan":
        """As `Learner.plan`: the law of the noise is that with the smaller variance for equally many trees.

        How many trees there are follows from that law alone, so that the price of a plan gives the plan again.
        """
        require_classes(subject)
        trees, whole = self.trees or TREES, Fraction(1)
        chosen = min(price.laws(), key=lambda law: leaf_deviation(subject, law, whole, trees))
        plan = self._plan(subject, chosen)
        require_pass(subject, plan.trees, plan.depth)
        return plan

    def _plan(self, subject: Subject, price: Price) -> "ForestPlan":
        trees = self.trees or (PURE_TREES if price.is_pure else TREES)
        deviation = leaf_deviation(subject, price, Fraction(1), trees)
        depth = depth_for(deviation, subject, trees) if self.depth is None else self.depth
        seed = json.dumps(facts_of(self, subject).to_json(), sort_keys=True)
        return ForestPlan(subject, price, trees, depth, deviation, seed)


def forest_of(trees: Any, depth: Any) -> ForestLearner:
    """A forest with the options that a caller gave."""
    return ForestLearner(None if trees is None else amounts.count(trees, "trees", 1, 1000), depth_of(depth))


def depth_of(depth: Any) -> int | None:
    """A depth that a caller gave; None for none."""
    return None if depth is None else amounts.count(depth, "depth", 1, MOST_GIVEN_DEPTH)


def leaf_deviation(subject: Subject, price: Price, share: Fraction, trees: int) -> float:
    """The standard deviation of the noise of one leaf's count; it does not depend on the depth."""
    own = kernel_of("leaves").sensitivity(_bare_trees(subject, trees, 0), subject.limit)
    return sqrt(price.mechanism(own, share).variance)


def depth_for(deviation: float, subject: Subject, trees: int) -> int:
    """log₂(1000/√s), s the noise of one leaf's count, between 3 and 9; less where there are many classes.

    All counts must fit into one release, and into what an engine holds for the rows of a unit.
    """
    room = min(_MOST_LEAVES, _MOST_CELLS // subject.schema.max_rows) // (trees * len(subject.classes))
    by_noise = min(max(round(log2(_DEPTH / sqrt(max(deviation, 1.0)))), LEAST_DEPTH), MOST_DEPTH)
    return max(min(by_noise, floor(log2(max(room, 2)))), 1)


def require_pass(subject: Subject, trees: int, depth: int) -> None:
    """Refuses more counts than one pass may have, before anything is charged."""
    kernel_pass(subject.schema, "leaves", subject.columns, _bare_trees(subject, trees, depth))


def _bare_trees(subject: Subject, trees: int, depth: int) -> dict[str, Any]:
    """The parameters of trees whose tests send all rows one way."""
    return leaves_public(subject, BINS, np.zeros((trees, depth), np.int64), np.zeros((trees, depth, 0), np.int64))


def leaves_public(subject: Subject, bins: int, tests: Ints, sides: Ints) -> dict[str, Any]:
    """The parameters of the kernel `leaves`; sides are widened to the cells of the widest feature."""
    described = [feature.described_cells(bins) for feature in subject.features]
    widest = 1 + max(feature.cells(bins) for feature in subject.features)
    require_sides((*tests.shape, widest))
    narrow = np.clip(sides, -1, 2).astype(np.uint8)  # what is neither 0 nor 1 stays neither, and is refused
    wide = np.pad(narrow, ((0, 0), (0, 0), (0, widest - sides.shape[2])))
    target = subject.target.described_cells(0)
    return {"features": described, "target": target, "tests": tests, "sides": wide, "rows": subject.max_rows}


@dataclass(frozen=True)
class ForestPlan(PricedPlan):
    """The trees, and the noise of their leaves."""

    trees: int
    depth: int
    deviation: float
    seed: str

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """As `Plan.mechanisms`."""
        shape = f"{self.trees} trees with {2**self.depth} leaves each, planted without a look at the rows"
        noise = f"{self.price.law} noise of standard deviation {self.deviation:.3g}"
        return (f"counts by class and leaf of {shape}, with {noise}",)

    @cached_property
    def public(self) -> dict[str, Any]:
        """The trees, as the kernel is told of them."""
        features = [Feature.parse(feature.described_cells(BINS)) for feature in self.subject.features]
        ordered = [feature.is_number for feature in self.subject.features]
        tests, sides = planted_tests(self.seed, self.trees, self.depth, features, ordered)
        return leaves_public(self.subject, BINS, tests, sides)

    @property
    def emphasis(self) -> float:
        """What the average over trees is multiplied by, at least 1: a tree asks w = depth/3 of K features, so the
        average tells w/K of what all say together; of which 0.7 is counted, for features repeat each other."""
        features = len(self.subject.features)
        return max(_INDEPENDENT * features / min(self.depth / IN_A_ROW, features), 1.0)

    def fit(self, steps: Steps) -> Released:
        """As `Plan.fit`."""
        return {"leaves": steps.sum("leaves", "leaves", self.public, Fraction(1))}

    def model(self, released: Released) -> LeafModel:
        """As `Plan.model`."""
        return leaf_model(self.subject, Trees.parse(self.public), released["leaves"], self.deviation, self.emphasis)
