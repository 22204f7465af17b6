"""Sparse vector: many questions "is this above the threshold?", of which only those answered yes are paid for.

    ρ ~ Laplace(Δ/ε₁) once;  each question i: above iff q_i + ν_i ≥ T + ρ,  ν_i ~ Laplace(2cΔ/ε₂);  stop after c above

is (ε₁ + ε₂)-DP however many questions are asked, adaptively too (Dwork & Roth 2014; Lyu, Su & Li 2017, Alg. 1).  The
noise is two-sided geometric and T, q whole lattice steps.  The split ε₁ : ε₂ = 1 : (2c)^⅔ makes ρ − ν smallest.
A number for what was above costs extra: fresh noise Laplace(cΔ/ε₃), never the noise that was compared.
"""

import os
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any, NoReturn

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import BadValue, bad, bad_private
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
        run = self.open(source)
        verdicts = []
        for value in values:
            if run.positives_left == 0:
                break
            verdicts.append(run.ask(int(value)))
        return verdicts

    def open(self, source: Source) -> "Run":
        """A run for questions chosen one after the other."""
        return Run(self, source)

    def slack(self, questions: int, missed: Any) -> int:
        """t such that, but for that probability, every verdict is right for all values t or more off the threshold.

        One step beyond the two radii: a value that ties with the noisy threshold counts as above.
        """
        half = amounts.inner_probability(missed, "missed") / 2
        count = amounts.count(questions, "questions", 1)
        return 1 + self.threshold_noise.radius(1 - half) + self.question_noise.radius(1 - half / count)


class Run:
    """An open run: the noisy threshold, which must never be shown, and how many positives are left.

    It belongs to the process that opened it: two copies would each spend the positives paid for once.  So it refuses to
    be copied, replaced or pickled, and in a forked child it refuses to answer.  The lock keeps threads in line.
    """

    __slots__ = ("_left", "_lock", "_noisy_threshold", "_opened_in", "_promise", "_source")

    def __init__(self, promise: SparseVector, source: Source) -> None:
        self._promise, self._source, self._lock = promise, source, Lock()
        self._noisy_threshold = promise.threshold + int(promise.threshold_noise.draw(1, source)[0])
        self._left, self._opened_in = promise.positives, _this_process()

    def __repr__(self) -> str:
        return f"Run(left={self._left})"

    @property
    def positives_left(self) -> int:
        """How many positives are left."""
        return self._left

    def __copy__(self) -> NoReturn:
        raise _not_copied()

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise _not_copied()

    def __replace__(self, /, **changes: object) -> NoReturn:
        raise _not_copied()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise _not_copied()

    def ask(self, value: Any) -> Verdict:
        """Whether the value is above; refused once all positives are used, and in a forked child."""
        step = lattice_vector(value, "value")
        if step.ndim != 0:
            raise bad_private("value", "must be one whole number of lattice steps", "Ask about one value at a time.")
        if self._opened_in != _this_process():  # before the lock, which may have been held when it was forked
            what = "An open run of sparse vector answers in the process that opened it alone."
            raise BadValue(what, "Parent and child would each spend the positives paid for once.", _NEW_RUN)
        with self._lock:
            return self._draw_verdict(int(step))

    def _draw_verdict(self, value: int) -> Verdict:
        if self._left == 0:
            raise bad("questions", "must stop after the last positive paid for", self._promise.positives, _NEW_RUN)
        if value + int(self._promise.question_noise.draw(1, self._source)[0]) < self._noisy_threshold:
            return Verdict(above=False)
        self._left -= 1
        fresh = self._promise.number_noise
        return Verdict(True, None if fresh is None else value + int(fresh.draw(1, self._source)[0]))


_NEW_RUN = "Open a new run, which is a new charge."
_forks = 0  # between the first process and this one


def _this_process() -> tuple[int, int]:
    """The process id, and the number of forks, in which a child differs even if the id comes round again."""
    return os.getpid(), _forks


def _in_child() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_in_child)


def _not_copied() -> BadValue:
    what = "An open run of sparse vector cannot be copied, replaced or pickled."
    return BadValue(what, "Two copies would each spend the positives paid for once.", _NEW_RUN)


def sparse_vector(sensitivity: Sensitivity, epsilon: Any, *, threshold: int, positives: int) -> SparseVector:
    """ε-DP verdicts; Δ is `sensitivity.linf`, what one unit can move any single question."""
    epsilon, c = amounts.epsilon(epsilon), amounts.count(positives, "positives", 1, 10**6)
    return _sparse_vector(sensitivity, epsilon, threshold, c, Pure(epsilon), None)


def numeric_sparse_vector(
    sensitivity: Sensitivity, epsilon: Any, *, threshold: int, positives: int, numbers: Any
) -> SparseVector:
    """ε-DP verdicts, and noisy numbers for the positives at `numbers` further ε in total."""
    epsilon, c = amounts.epsilon(epsilon), amounts.count(positives, "positives", 1, 10**6)
    each = amounts.epsilon(numbers, "numbers") / c
    fresh = DiscreteLaplace(_linf(sensitivity) / each)
    return _sparse_vector(sensitivity, epsilon, threshold, c, Together((Pure(epsilon), Repeated(Pure(each), c))), fresh)


def _sparse_vector(
    sensitivity: Sensitivity, epsilon: Fraction, threshold: int, c: int, cost: Cost, numbers: DiscreteLaplace | None
) -> SparseVector:
    linf = _linf(sensitivity)
    threshold = amounts.count(threshold, "threshold", -LARGEST, LARGEST)
    threshold_epsilon = epsilon / (1 + Fraction((2 * c) ** (2 / 3)).limit_denominator(1000))
    threshold_noise = DiscreteLaplace(linf / threshold_epsilon)
    question_noise = DiscreteLaplace(2 * c * linf / (epsilon - threshold_epsilon))
    return SparseVector(sensitivity, cost, threshold, c, threshold_noise, question_noise, numbers)


def _linf(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.linf <= 0:
        fix = "Give the most one unit moves any single question."
        raise bad("sensitivity linf", "must be positive", sensitivity.linf, fix)
    return sensitivity.linf
