"""Sparse vector: many questions "is this above the threshold?", paid for only by the few that are.

    ρ ~ Laplace(Δ/ε₁) once;  each question i: above iff q_i + ν_i ≥ T + ρ,  ν_i ~ Laplace(2cΔ/ε₂);  stop after c above

is (ε₁ + ε₂)-DP however many questions are asked, adaptively too (Dwork & Roth 2014; Lyu, Su & Li 2017, Alg. 1).  The
noise is two-sided geometric and T, q whole lattice steps.  The split ε₁ : ε₂ = 1 : (2c)^⅔ makes ρ − ν smallest.
A number for what was above costs extra: fresh noise Laplace(cΔ/ε₃), never the noise that was compared.
"""

from _thread import LockType
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Lock
from typing import Any

from discreet import exact as exactly
from discreet.bounded import Sensitivity
from discreet.errors import bad, bad_private
from discreet.mechanism.promise import LARGEST, lattice_vector
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.privacy.cost import Cost, Pure, Repeated, Together


@dataclass(frozen=True)
class Verdict:
    """What one question reveals: above or not, and the noisy number where that was paid for."""

    above: bool
    number: int | None = None


@dataclass(frozen=True)
class SparseVector:
    """A run that stops after `positives` answers above; made by `sparse_vector` or `numeric_sparse_vector`."""

    sensitivity: Sensitivity
    cost: Cost
    threshold: int
    positives: int
    threshold_noise: DiscreteLaplace
    question_noise: DiscreteLaplace
    number_noise: DiscreteLaplace | None

    def __call__(self, exact: Any, source: Source) -> list[Verdict]:
        """The verdicts on a list of questions, ending with the last positive paid for."""
        values = lattice_vector(exact).reshape(-1)  # before any noise is drawn
        run = self.opened(source)
        verdicts = []
        for value in values:
            if run.left == 0:
                break
            verdicts.append(run.ask(int(value)))
        return verdicts

    def opened(self, source: Source) -> "Run":
        """A run for questions chosen one after the other."""
        return Run(self, source, self.threshold + int(self.threshold_noise.drawn(1, source)[0]), self.positives)

    def slack(self, questions: int, missed: Any) -> int:
        """t such that, but for that probability, every verdict is right for all values t or more off the threshold.

        One step beyond the two radii: a value that ties with the noisy threshold counts as above.
        """
        half = exactly.inner_probability(missed, "missed") / 2
        asked = exactly.count(questions, "questions", 1)
        return 1 + self.threshold_noise.radius(1 - half) + self.question_noise.radius(1 - half / asked)


@dataclass
class Run:
    """An open run: the noisy threshold, which must never be shown, and how many positives are left.

    It belongs to one process: two copies of it would each spend the positives paid for once.  The lock keeps threads in
    line and makes pickling and deep copies fail.
    """

    promise: SparseVector
    source: Source
    noisy_threshold: int
    left: int
    lock: LockType = field(default_factory=Lock, repr=False)

    def __repr__(self) -> str:
        return f"Run(left={self.left})"

    def ask(self, value: Any) -> Verdict:
        """Whether the value is above; refused once all positives are used."""
        step = lattice_vector(value, "value")
        if step.ndim != 0:
            raise bad_private("value", "must be one whole number of lattice steps", "Ask about one value at a time.")
        with self.lock:
            return self._answered(int(step))

    def _answered(self, value: int) -> Verdict:
        if self.left == 0:
            fix = "Open a new run, which is a new charge."
            raise bad("questions", "must stop after the last positive paid for", self.promise.positives, fix)
        if value + int(self.promise.question_noise.drawn(1, self.source)[0]) < self.noisy_threshold:
            return Verdict(above=False)
        self.left -= 1
        fresh = self.promise.number_noise
        return Verdict(True, None if fresh is None else value + int(fresh.drawn(1, self.source)[0]))


def sparse_vector(sensitivity: Sensitivity, epsilon: Any, *, threshold: int, positives: int) -> SparseVector:
    """ε-DP verdicts; Δ is `sensitivity.linf`, what one unit can move any single question."""
    price, c = exactly.epsilon(epsilon), exactly.count(positives, "positives", 1, 10**6)
    return _built(sensitivity, price, threshold, c, Pure(price), None)


def numeric_sparse_vector(
    sensitivity: Sensitivity, epsilon: Any, *, threshold: int, positives: int, numbers: Any
) -> SparseVector:
    """ε-DP verdicts, and noisy numbers for the positives at `numbers` further ε in total."""
    price, c = exactly.epsilon(epsilon), exactly.count(positives, "positives", 1, 10**6)
    each = exactly.epsilon(numbers, "numbers") / c
    fresh = DiscreteLaplace(_step(sensitivity) / each)
    return _built(sensitivity, price, threshold, c, Together((Pure(price), Repeated(Pure(each), c))), fresh)


def _built(
    sensitivity: Sensitivity, price: Fraction, threshold: int, c: int, cost: Cost, numbers: DiscreteLaplace | None
) -> SparseVector:
    step = _step(sensitivity)
    level = exactly.count(threshold, "threshold", -LARGEST, LARGEST)
    first = price / (1 + Fraction((2 * c) ** (2 / 3)).limit_denominator(1000))
    ours, theirs = DiscreteLaplace(step / first), DiscreteLaplace(2 * c * step / (price - first))
    return SparseVector(sensitivity, cost, level, c, ours, theirs, numbers)


def _step(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.linf <= 0:
        fix = "Give the most one unit moves any single question."
        raise bad("sensitivity linf", "must be positive", sensitivity.linf, fix)
    return sensitivity.linf
