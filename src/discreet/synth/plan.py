"""Plan a synthesis at a price: three steps with public shares, and what can be said of its noise before a row is read.

    singles    0.30    every column by its fine cells
    scores     0.05    for every pair of columns how far its counts lie from those of independent columns
    tables     0.65    the pairs that are worth it, by groups of cells, and every column once more

What no step takes goes to the tables: the scores where noise would drown them, and everything where there are no pairs.
The shares are the same for all tables; they were chosen on public ones, which docs/claims.md names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import kernel_of
from discreet.learn.price import Price
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Ints
from discreet.privacy.cost import Cost
from discreet.synth.buildable import require_buildable
from discreet.synth.law import law_of, mu, precision, spread
from discreet.synth.model.junction import Pair
from discreet.synth.subject import Subject

KERNEL = "marginals"
SINGLES, SCORES = Fraction(3, 10), Fraction(1, 20)
AUTO, INDEPENDENT = "auto", "independent"
METHODS = (AUTO, INDEPENDENT)
MAX_CELLS = 10**6
LEAST_CELLS, MOST_CELLS = 10**3, 10**8
LEAST_ROWS, MOST_ROWS = 1, 10**9


@dataclass(frozen=True, eq=False)
class SynthPlan:
    """What will be measured of a subject at a price; `rows` is public, or None where a noisy number is taken."""

    subject: Subject
    price: Price
    method: str = AUTO
    max_cells: int = MAX_CELLS
    rows: int | None = None

    @property
    def cost(self) -> Cost:
        """What is charged before the first step."""
        return self.price.cost

    @property
    def with_pairs(self) -> bool:
        """Whether pairs of columns may be measured."""
        return self.method == AUTO and bool(self.pairs)

    @property
    def singles_share(self) -> Fraction:
        """Of the price, for the first look at every column: all of it where nothing else is measured."""
        return SINGLES if self.with_pairs else Fraction(1)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every pair of features, but those of which all is known from the single ones."""
        presence, absent = self.subject.presence, self.subject.absent_codes
        features = range(len(self.subject.sizes))
        return [pair for pair in combinations(features, 2) if presence not in pair or not set(pair) <= set(absent)]

    @cached_property
    def singles_weights(self) -> Ints:
        """The steps that a unit adds to the table of each column."""
        return weights(self, [(size,) for size in self.subject.sizes])

    def singles_public(self) -> dict[str, Any]:
        """The parameters of the pass that counts every column by its fine cells."""
        sizes = self.subject.sizes
        return self.subject.public(
            [np.arange(size) for size in sizes],
            [(place,) for place in range(len(sizes))],
            self.singles_weights.tolist(),
        )

    def mechanism(self, public: dict[str, Any], share: Fraction) -> Additive:
        """The noise on what a pass counts, planned from the subject's own limit of rows."""
        return self.price.mechanism(kernel_of(KERNEL).sensitivity(public, self.subject.limit), share)

    @property
    def score_deviation(self) -> float:
        """The standard deviation of the noise of a score, in units."""
        noise = sqrt(len(self.pairs)) if not self.price.is_pure else sqrt(2) * len(self.pairs)
        return noise * self.moved / precision(self.price, SCORES)

    @property
    def moved(self) -> int:
        """How far one unit can move a score: by what it adds, and by what another takes away where it is replaced."""
        return 2 if self.subject.limit.relation.value == "replace-one" else 1

    @property
    def mu(self) -> float:
        """How well a unit can be told under the whole price, as 1/σ of the noise of one table."""
        return mu(self.price) / spread(self.price, self.subject.limit.relation)

    def precision(self, share: Fraction) -> float:
        """How narrow the noise of tables is at that share of the price, as `Law.noise` divides by it."""
        return precision(self.price, share) / spread(self.price, self.subject.limit.relation)

    @property
    def total_deviation(self) -> float:
        """The standard deviation of the number of units, as the first look at every column gives it."""
        steps = self.mechanism(self.singles_public(), self.singles_share).variance
        facts = enumerate(zip(self.singles_weights, self.subject.sizes, strict=True))
        sums = [int(own) ** 2 / size for place, (own, size) in facts if not self.subject.is_of_rows([place])]
        return sqrt(steps / sum(sums))

    def score_mechanism(self) -> Additive:
        """The noise on the scores of all pairs."""
        subject = self.subject
        whole = [np.zeros(size, dtype=np.int64) for size in subject.sizes]
        public = subject.public(whole, self.pairs[:1], [subject.steps])
        moved = kernel_of(KERNEL).sensitivity(public, subject.limit).l1
        return self.price.mechanism(score_sensitivity(moved, len(self.pairs), subject), SCORES)

    def words(self) -> tuple[str, ...]:
        """How units count and what is measured, in sentences."""
        law, columns = self.price.law, len(self.subject.sizes)
        measured = f"Measured: {_counted(columns, 'column by its cells', 'columns by their cells')}, with {law} noise"
        if self.with_pairs:
            pairs = len(self.pairs)
            scored = "a score of the one pair" if pairs == 1 else f"a score of each of {pairs:,} pairs"
            measured += f"; {scored}; and the tables of pairs whose scores exceed their expected noise"
        left_out = [f"Left out: {name}. {reason}" for name, reason in self.subject.left_out.items()]
        return (self.subject.words(), f"{measured}.", *left_out)


def score_sensitivity(moved: Fraction, pairs: int, subject: Subject) -> Sensitivity:
    """How far a unit moves the scores, if it moves the counts of a pair by at most `moved` in l1: each by as much.

    | ‖x − e‖₁ − ‖x′ − e‖₁ | ≤ ‖x − x′‖₁ for each pair, and a unit is in all of them.
    """
    return Sensitivity(Fraction(pairs), pairs * moved, pairs * moved**2, moved, subject.limit.relation)


def weights(plan: SynthPlan, shapes: Sequence[tuple[int, ...]]) -> Ints:
    """Whole steps for tables of these shapes, in the proportion that the law of the noise wants."""
    cells = np.array([np.prod(shape, dtype=np.float64) for shape in shapes])
    proportion = law_of(plan.price).weights(cells)
    steps: Ints = np.rint(plan.subject.steps * proportion / proportion.min()).astype(np.int64)
    return steps


def plan_of(
    subject: Subject, price: Price, *, method: Any = AUTO, max_cells: Any = MAX_CELLS, rows: Any = None
) -> SynthPlan:
    """The plan of a synthesis; what a pass or the noise would refuse later is refused here."""
    cells, public_rows = require_options(method, max_cells, rows)
    plan = SynthPlan(subject, price, method, cells, public_rows)
    require_buildable(plan)
    return plan


def require_options(method: Any, max_cells: Any, rows: Any) -> tuple[int, int | None]:
    """The numbers of cells and of rows; refused, with the method, where they mean nothing at any price."""
    if method not in METHODS:
        fix = "Write: method='auto', which measures pairs where they are worth it."
        raise bad("method", f"must be one of {', '.join(METHODS)}", method, fix)
    cells = amounts.count(max_cells, "max_cells", LEAST_CELLS, MOST_CELLS)
    return cells, None if rows is None else amounts.count(rows, "rows", LEAST_ROWS, MOST_ROWS)


def _counted(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"
