"""The noisy tables class × cell of all features, planned as one release: which bins, which noise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log2, sqrt

from discreet.learn.counts.rates import Rates, rates_of
from discreet.learn.price import Price
from discreet.learn.steps import Steps, tables_tallies, tally_sensitivities
from discreet.learn.subject import Subject
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Ints
from discreet.query.tally import Tally

LEAST_BINS, MOST_BINS = 16, 128
_BINS = 160
_LEAST_DEVIATION = 1e-3


def bins_for(deviation: float) -> int:
    """How many bins a number gets: 160/√s as a power of two, s the standard deviation of the noise of one count.

    >>> [bins_for(deviation) for deviation in (140, 17, 2)]
    [16, 32, 128]
    """
    nearest = round(log2(_BINS / sqrt(deviation)))
    return min(max(1 << max(nearest, 0), LEAST_BINS), MOST_BINS)


@dataclass(frozen=True)
class Tables:
    """A tally and a noise for each feature."""

    subject: Subject
    price: Price
    bins: int
    tallies: Mapping[str, Tally]
    noise: Mapping[str, Additive]

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of one count."""
        return _deviation(self.noise)

    @property
    def words(self) -> str:
        """What is measured."""
        count = len(self.tallies)
        tables = "1 table" if count == 1 else f"{count} tables"
        noise = f"{self.price.law} noise of standard deviation {self.deviation:.3g}"
        return f"{tables} of counts by class, with {noise} on every count"

    def measure(self, steps: Steps) -> dict[str, Ints]:
        """The noisy tables, in one step."""
        return steps.tables("tables", self.tallies, self.noise)

    def rates(self, released: Mapping[str, Ints]) -> Rates:
        """What the noisy tables say."""
        classes, features = len(self.subject.classes), self.subject.features
        tables = [released[feature.name].reshape(classes, -1).astype(float) for feature in features]
        return rates_of(tables, self.deviation, [feature.is_number for feature in features])


def tables_of(subject: Subject, price: Price, share: Fraction = Fraction(1), bins: int | None = None) -> Tables:
    """The tables for that share of the price; the number of bins follows from the noise unless it is given."""
    if bins is None:
        bins = bins_for(deviation_of(subject, price, share))
    tallies = tables_tallies(subject, bins)
    return Tables(subject, price, bins, tallies, _noise(tallies, price, share / len(subject.features)))


def deviation_of(subject: Subject, price: Price, share: Fraction = Fraction(1)) -> float:
    """The standard deviation of the noise of one count, from the first feature: bins hardly change how far a unit moves
    a table, and plans must be quick."""
    first = replace(subject, features=subject.features[:1])
    return _deviation(_noise(tables_tallies(first, LEAST_BINS), price, share / len(subject.features)))


def _noise(tallies: Mapping[str, Tally], price: Price, share: Fraction) -> dict[str, Additive]:
    return {name: price.mechanism(own, share) for name, own in tally_sensitivities(tallies).items()}


def _deviation(noise: Mapping[str, Additive]) -> float:
    """The largest standard deviation, and never 0: at a huge ε no noise is drawn, but rates divide by it."""
    return max(sqrt(max(mechanism.variance for mechanism in noise.values())), _LEAST_DEVIATION)
