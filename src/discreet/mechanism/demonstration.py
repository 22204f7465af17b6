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
class _PublishesRows:
    """An (0, δ)-DP mechanism that publishes rows as they are."""

    delta: Fraction

    @property
    def sensitivity(self) -> Sensitivity:
        """One row is added, removed or replaced; how far it moves does not matter to this promise."""
        distance = Fraction(2 * LARGEST)
        return Sensitivity(Fraction(1), distance, distance * distance, distance)

    @property
    def cost(self) -> Cost:
        return Approx(Fraction(0), self.delta)


@dataclass(frozen=True)
class NameAndShame(_PublishesRows):
    """Each row, as it is, with probability δ."""

    def __call__(self, exact: Any, source: Source) -> list[int]:
        """The published rows."""
        people = _rows(exact)
        return [int(row) for row in people[bernoulli(self.delta, people.size, source)]]

    def mean_published(self, people: int) -> float:
        """How many of so many people are published on average: n·δ."""
        return float(people * self.delta)


@dataclass(frozen=True)
class AllOrNothing(_PublishesRows):
    """Every row with probability δ, else none."""

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
