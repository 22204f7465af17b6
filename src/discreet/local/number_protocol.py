"""A protocol for a number of each person, between public bounds and in public steps: its mean is estimated.

`protects="person"` hides the whole number (hybrid.py).  `protects="use"` hides one step of it, one use of a phone
among its owner's uses (uses.py): the number itself, give or take the noise, is seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad, bad_private
from discreet.local.estimate import Estimate, Row, require_level, require_of, require_reports
from discreet.local.hybrid import HybridCode, hybrid_code
from discreet.local.keep import epsilon_of
from discreet.local.protocol import law_of, require_own
from discreet.local.reports import Reports, Tally, tally_of
from discreet.local.robust import PoisonedMean
from discreet.local.uses import UsesCode, uses_code
from discreet.local.words import WordList, bytes_of
from discreet.ndarrays import Ints
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Cost, Pure

MOST_STEPS = 2**20
MOST_STEPS_FROM_ZERO = 2**50


@dataclass(frozen=True)
class NumberProtocol:
    """Reports about a number in [low, low + steps·step]."""

    name: str
    low: Fraction
    step: Fraction
    code: HybridCode | UsesCode
    why: str

    @property
    def high(self) -> Fraction:
        """The largest number."""
        return self.low + self.step * self.code.steps

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Every number that an answer can be rounded to."""
        return tuple(self.low + self.step * i for i in range(self.code.size))

    @property
    def epsilon(self) -> Fraction:
        """For the whole number of a person, or for one step of it, as `protects` was."""
        return epsilon_of(self.code.ratio)

    @property
    def cost(self) -> Cost:
        """What a report costs its person; noise for single uses costs them the ε of every use together."""
        return Pure(self.person_epsilon)

    @property
    def person_epsilon(self) -> Fraction:
        """ε for the whole number of a person."""
        return self.epsilon * (self.code.steps if isinstance(self.code, UsesCode) else 1)

    @property
    def report_bytes(self) -> int:
        """The length of every report."""
        return self.code.report_bytes

    def encode(self, answers: Any) -> Reports:
        """A report for each number; numbers beyond the bounds count as the bound, others as the nearest step."""
        return Reports(self.code.draw(self._indices(answers), SYSTEM))

    def encode_with(self, answer: Any, words: Iterable[int]) -> bytes:
        """The report that those 32-bit words give."""
        return self.code.report(int(self._indices([answer])[0]), WordList(words))

    def law(self, answer: Any) -> dict[bytes, Fraction]:
        """Every report with its exact probability."""
        return law_of(self.code, int(self._indices([float(answer) if isinstance(answer, Fraction) else answer])[0]))

    def aggregate(self, reports: Any) -> Tally:
        """The tally of reports; tallies of parts add up."""
        return tally_of(self.code, self._about, reports)

    def estimate(
        self, tally: Tally, level: Any = "0.95", of: str = "population", project: str | None = None
    ) -> Estimate:
        """The mean, with Student's interval: from the spread of the reports, or from that of the noise alone."""
        require_own(self.code, self._about, tally)
        sure, n, kind = require_level(level), require_reports(tally), require_of(of)
        if project not in (None, "clip"):
            raise bad("project", "must be None or 'clip' for a number", project, "Leave it out for unbiased estimates.")
        mean = float(tally.counts @ self.code.steps_of_outputs) / n
        variance, quantile = self._mean_variance(tally, mean, kind), _quantile(float(1 + sure) / 2, n)
        radius = quantile * variance**0.5
        ends = [float(self.low) + float(self.step) * steps for steps in (mean, mean - radius, mean + radius)]
        if project == "clip":
            ends = [min(max(end, float(self.low)), float(self.high)) for end in ends]
        row = Row("mean", ends[0], ends[1], ends[2], variance * float(self.step) ** 2)
        return Estimate((row,), n, tally.rejected, sure, kind)

    def variance(self, share: Any, people: Any, of: str = "population") -> float:
        """Of the estimated mean if everyone's number lies at that share of the way from low to high.

        There is then no spread among people, so it is that of noise alone for a population too.
        """
        place = amounts.probability(share, "share") * self.code.steps
        require_of(of)
        return float(self.code.variance(round(place)) * self.step**2) / amounts.count(people, "people", 1)

    def poisoned(self, liars: Any, people: Any) -> PoisonedMean:
        """How far so many of the people can move the mean by sending whatever they like."""
        n = amounts.count(people, "people", 1)
        m = amounts.count(liars, "liars", 0, n)
        outputs = bytes_of(np.arange(self.code.outputs, dtype=np.uint32), self.report_bytes)
        numbers = self.code.steps_of_outputs[self.code.is_report(outputs)]
        return PoisonedMean(m, n, m / n * float(numbers.max() - numbers.min()) * float(self.step))

    @property
    def _about(self) -> tuple[Fraction, Fraction]:
        return self.low, self.step

    def _mean_variance(self, tally: Tally, mean: float, kind: str) -> float:
        """Of the estimated mean in steps²: from the spread of reports, or the largest that noise alone can have.

        The noise variance is a parabola in the answer, so its ends and its middle have the least and the largest.
        """
        steps, n = self.code.steps, tally.reports
        noise = [float(self.code.variance(answer)) for answer in (0, steps // 2, steps)]
        if kind == "respondents":
            return max(noise) / n
        if n == 1:
            return max(noise) + steps**2 / 4
        spread = float(tally.counts @ (self.code.steps_of_outputs - mean) ** 2) / (n - 1)
        return max(spread, min(noise)) / n

    def _indices(self, answers: Any) -> Ints:
        fix = "Give a number for each person."
        refusal = bad_private("answers", "must be a flat list of finite numbers", fix)
        if isinstance(answers, np.ma.MaskedArray):
            raise refusal  # what a mask hides is no number of anyone
        if isinstance(answers, list | tuple) and not all(_is_plain_number(answer) for answer in answers):
            raise refusal
        try:
            numbers = np.asarray(answers)
        except (ValueError, OverflowError):
            raise refusal from None
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
            raise refusal
        steps = np.rint((numbers.astype(np.float64) - float(self.low)) / float(self.step))
        return np.clip(steps, 0, self.code.steps).astype(np.int64)


def _is_plain_number(answer: Any) -> bool:
    return type(answer) in (int, float) or isinstance(answer, np.integer | np.floating)


def _quantile(chance: float, n: int) -> float:
    """Student's, with n − 1 degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(max(n - 1, 1), chance))


def number_protocol(epsilon: Any, low: Any, high: Any, step: Any, protects: Any) -> NumberProtocol:
    """Numbers in [low, high] at multiples of step above low."""
    bound, least, width = amounts.epsilon(epsilon), amounts.decimal(low, "low"), amounts.positive(step, "step")
    highest = amounts.decimal(high, "high")
    steps = (highest - least) / width
    if steps.denominator != 1 or not 1 <= steps <= MOST_STEPS:
        rule = f"must lie above low by a whole number of steps, at most {MOST_STEPS:,} of them"
        raise bad("high", rule, high, "Give bounds such as low=0, high=24, step=1.")
    if not Fraction(1, 10**300) < width < 10**300:
        raise bad("step", "must be between 1e-300 and 1e300", step, "Count in another unit.")
    if max(abs(least), abs(highest)) > MOST_STEPS_FROM_ZERO * width:
        rule = "must be at most 2⁵⁰ steps from 0, where doubles still tell one step from the next"
        raise bad("low", rule, low, "Give a larger step, or take low off every number.")
    whole = int(steps)
    match protects:
        case "person":
            why = "The whole number is protected: two points and a window are mixed for the least worst variance."
            return NumberProtocol("hybrid", least, width, hybrid_code(bound, whole), why)
        case "use":
            why = (
                f"One use (a step of {amounts.text_of(width)}) is protected, not the person: whoever sees the report "
                f"learns the number to within the noise, and all {whole:,} steps together cost {whole:,} times ε."
            )
            return NumberProtocol("geometric", least, width, uses_code(bound, whole), why)
        case _:
            raise bad("protects", "must be 'person' or 'use'", protects, "Take 'person' unless one use is the secret.")
