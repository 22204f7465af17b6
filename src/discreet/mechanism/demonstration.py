"""Two mechanisms that keep an (0, δ) promise and protect no one: why δ must be far below 1/n.

    name and shame     publish each row with probability δ: about n·δ people are named in full
    all or nothing     with probability δ publish everything

For teaching only: nothing else imports this module, and no question is ever answered by it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.bounded import Sensitivity
from discreet.errors import bad_private
from discreet.mechanism.promise import LARGEST, lattice_vector
from discreet.ndarrays import Ints
from discreet.noise.bernoulli import bernoulli
from discreet.noise.source import Source
from discreet.privacy.cost import Approx, Cost


@dataclass(frozen=True)
class NameAndShame:
    """Each row, as it is, with probability δ."""

    delta: Fraction

    @property
    def sensitivity(self) -> Sensitivity:
        return _one_row()

    @property
    def cost(self) -> Cost:
        return Approx(Fraction(0), self.delta)

    def __call__(self, exact: Any, source: Source) -> list[int]:
        """The rows that were shamed."""
        people = _rows(exact)
        return [int(row) for row in people[bernoulli(self.delta, people.size, source)]]

    def named(self, people: int) -> float:
        """How many of so many people are published on average: n·δ."""
        return float(people * self.delta)


@dataclass(frozen=True)
class AllOrNothing:
    """Every row with probability δ, else none."""

    delta: Fraction

    @property
    def sensitivity(self) -> Sensitivity:
        return _one_row()

    @property
    def cost(self) -> Cost:
        return Approx(Fraction(0), self.delta)

    def __call__(self, exact: Any, source: Source) -> list[int]:
        """All rows, or none."""
        people = _rows(exact)
        return [int(row) for row in people] if bernoulli(self.delta, 1, source)[0] else []


def name_and_shame(delta: Any) -> NameAndShame:
    """(0, δ)-DP, and it names people."""
    return NameAndShame(amounts.probability(delta, "delta"))


def all_or_nothing(delta: Any) -> AllOrNothing:
    """(0, δ)-DP, and it may publish everyone."""
    return AllOrNothing(amounts.probability(delta, "delta"))


def _rows(exact: Any) -> Ints:
    people = lattice_vector(exact)
    if people.ndim != 1:
        raise bad_private("exact", "must be a flat list, one whole number a person", "Give a list of whole numbers.")
    return people


def _one_row() -> Sensitivity:
    """One row is there or not, or is another; how far it moves does not matter to this promise."""
    most = Fraction(2 * LARGEST)
    return Sensitivity(Fraction(1), most, most * most, most)
