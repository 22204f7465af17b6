"""How many trainings a tuning tries: a random number, because the best of a fixed number could cost that many times ε.

    P[K = k] = c·(1 − γ)^k·∏_{0<l<k} (l + η)/(l + 1),  k ≥ 1      truncated negative binomial (Papernot & Steinke 2022)
    η = 0    logarithmic    P[K = k] = (1 − γ)^k/(k·ln(1/γ))     mean (1 − γ)/(γ·ln(1/γ))
    η = 1    geometric      P[K = k] = γ(1 − γ)^{k−1}            mean 1/γ

K is drawn exactly and never shown: whoever learns it, be it by the time a tuning takes, learns more than is priced.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from discreet import amounts
from discreet.errors import bad
from discreet.noise.inversion import inverse_draw
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.certify import up
from discreet.real import Real, ball

LOGARITHMIC, GEOMETRIC = "logarithmic", "geometric"
_SHAPES = {LOGARITHMIC: 0, GEOMETRIC: 1}
_LEAST_RUNS, _MOST_RUNS = Fraction(11, 10), Fraction(1000)
_BITS = 40


@dataclass(frozen=True)
class RunCount:
    """The law of the number of runs; `shape` is η."""

    gamma: Fraction
    shape: int

    def __post_init__(self) -> None:
        amounts.require_inner(self.gamma, "gamma")
        amounts.count(self.shape, "shape", 0, 1)

    @property
    def law(self) -> str:
        """The law by its name."""
        return next(name for name, shape in _SHAPES.items() if shape == self.shape)

    @property
    def mean(self) -> Fraction:
        """E[K], rounded up."""
        if self.shape:
            return 1 / self.gamma
        return up(lambda: ball((1 - self.gamma) / self.gamma) / -ball(self.gamma).log())

    def cumulative(self, k: int) -> Real:
        """P[K ≤ k], certified."""
        return self._geometric(k) if self.shape else self._logarithmic(k)

    def draw(self, source: Source = SYSTEM) -> int:
        """A number of runs, with exactly this law; it must not be shown."""
        return inverse_draw(self.cumulative, source)

    def _geometric(self, k: int) -> Real:
        return lambda: 1 - ball(1 - self.gamma) ** k

    def _logarithmic(self, k: int) -> Real:
        def value() -> arb:
            remain, power, total = ball(1 - self.gamma), arb(1), arb(0)
            for j in range(1, k + 1):
                power *= remain
                total += power / j
            return total / -ball(self.gamma).log()

        return value


def run_count(runs: Any, law: str = LOGARITHMIC) -> RunCount:
    """The law with so many runs on average, or a little fewer.

    >>> float(run_count(4, "geometric").gamma), 2.999 < run_count(3).mean <= 3
    (0.25, True)
    """
    if law not in _SHAPES:
        raise bad("law", f"must be one of {', '.join(_SHAPES)}", law, "Leave it out: the logarithmic law costs least.")
    rule, fix = "must be a number between 1.1 and 1000", "Give the number of runs on average, such as 3 or 10."
    mean = amounts.decimal(runs, "runs", rule, fix)
    if not _LEAST_RUNS <= mean <= _MOST_RUNS:
        raise bad("runs", rule, runs, fix)
    if law == GEOMETRIC:
        return RunCount(1 / mean, 1)
    low, high = 0, 2**_BITS  # gamma in units of 2⁻⁴⁰; the mean falls in it
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if RunCount(Fraction(middle, 2**_BITS), 0).mean <= mean else (middle, high)
    return RunCount(Fraction(high, 2**_BITS), 0)
