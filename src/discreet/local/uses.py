"""Two-sided geometric noise at the source: it hides one use of a phone among the uses of its owner, not the owner.

    report = x + G₁ − G₂ steps,   P[G ≥ j] = a^j,   a = A/2³² ≥ e^(−ε),   held to −R … N + R

One step more or less changes the probability of a report by at most 1/a.  R has a^R ≤ 2⁻³², so holding the report to
a constant length moves its mean by less than 2⁻³²·a/(1 − a²) steps.  A secret
number needs a hybrid.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet import real
from discreet.errors import bad
from discreet.local.words import SIDES, Bytes, WordList, bytes_of, coins, histogram, numbers_of, width_of
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.source import Source

_LEAST_EPSILON = Fraction(1, 1000)  # some 2,000 coins a report


@dataclass(frozen=True)
class UsesCode:
    """`more` = A, the threshold of the coin that adds a step to G; `reach` = R."""

    steps: int
    more: int
    reach: int

    @property
    def size(self) -> int:
        return self.steps + 1

    @property
    def outputs(self) -> int:
        return self.steps + 2 * self.reach + 1

    @property
    def report_bytes(self) -> int:
        return width_of(self.outputs)

    @property
    def ratio(self) -> Fraction:
        """Of two answers that are one step apart."""
        return Fraction(SIDES, self.more)

    def draw(self, answers: Ints, source: Source) -> Bytes:
        """One report a person."""
        noise = self._geometric(answers.size, source) - self._geometric(answers.size, source)
        held = np.clip(answers + noise, -self.reach, self.steps + self.reach) + self.reach
        return bytes_of(held.astype(np.uint32), self.report_bytes)

    def report(self, answer: int, words: WordList) -> bytes:
        """The report of those words: coins up to the first that fails, twice."""
        up, down = self._tosses(words), self._tosses(words)
        held = min(max(answer + up - down, -self.reach), self.steps + self.reach)
        return (held + self.reach).to_bytes(self.report_bytes, "little")

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability; the two ends have the tails beyond them."""
        a = Fraction(self.more, SIDES)
        for output in range(self.outputs):
            distance = abs(output - self.reach - answer)
            is_end = output in (0, self.outputs - 1)
            chance = a**distance / (1 + a) if is_end else (1 - a) / (1 + a) * a**distance
            yield output.to_bytes(self.report_bytes, "little"), chance

    def is_report(self, reports: Bytes) -> Bools:
        """Which rows are an output."""
        return numbers_of(reports) < self.outputs

    def counts(self, reports: Bytes) -> Ints:
        """How many reports have each output."""
        return histogram(reports, self.outputs)

    @cached_property
    def steps_of_outputs(self) -> Floats:
        """The number of steps that each output stands for."""
        return np.arange(self.outputs, dtype=np.float64) - self.reach

    def variance(self, answer: int) -> Fraction:
        """2a/(1 − a)² steps², whatever the answer."""
        return Fraction(2 * self.more * SIDES, (SIDES - self.more) ** 2)

    def to_json(self) -> Mapping[str, Any]:
        """The integers of the law."""
        numbers = {"steps": self.steps, "more": self.more, "reach": self.reach}
        return {"kind": "use", **numbers, "bytes": self.report_bytes}

    def _tosses(self, words: WordList) -> int:
        tosses = 0
        while words.coin(self.more):
            tosses += 1
        return tosses

    def _geometric(self, n: int, source: Source) -> Ints:
        """n independent G, tossed together until none goes on."""
        tosses, going = np.zeros(n, dtype=np.int64), np.arange(n)
        while going.size:
            going = going[coins(self.more, going.size, source)]
            tosses[going] += 1
        return tosses


def uses_code(epsilon: Fraction, steps: int) -> UsesCode:
    """Geometric noise with the least A that ε for each step allows: ⌈2³²·e^(−ε)⌉."""
    if not _LEAST_EPSILON <= epsilon <= 20:
        fix = "Give a number such as 0.5."
        raise bad("epsilon", "must be between 0.001 and 20 for a single use", float(epsilon), fix)
    more = real.floor(lambda: real.ball(-epsilon).exp(), 32) + 1
    reach = real.floor(lambda: 32 * real.ball(2).log() / real.ball(Fraction(SIDES, more)).log()) + 1
    return UsesCode(steps, more, reach)
