"""Planted bugs of tables over a tree: levels, views and rows that are not paid for, and noise that is not everywhere.

A parent that is the sum of its noisy children is no bug: it costs nothing more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from discreet.audit import places
from discreet.audit.bounds import Odds
from discreet.audit.brute import Pairs
from discreet.audit.events import Event
from discreet.audit.features import Difference, Outputs, Values
from discreet.audit.forest import draw_measurements, exact_layout
from discreet.audit.laws import Numbers, OutputLaw, above, mass, numbers
from discreet.audit.mutants.planted import Drawn, Planted, Proven, chance_bounds
from discreet.audit.places import DEEP, DEEP_SHARES, FLAT, FLAT_SHARES, VIEW_SHARES, VIEWS, plain_design
from discreet.audit.release_claims import sizes_from_top
from discreet.bounded import Sensitivity, cells
from discreet.mechanism import additive
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.privacy import calibrate
from discreet.privacy.cost import Gaussian, Pure
from discreet.real import upper
from discreet.relation import Relation
from discreet.release.measure import Design, Measurement, Shares, count_sensitivity, gaussian, laplace, size_sensitivity
from discreet.release.tree import tree_sums

_ADD, _REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
_EPSILON = Fraction(1)
_ONE = Pure(_EPSILON)
_HALF = Fraction(1, 2)
_SIGMA = calibrate.gaussian_sigma(1, Fraction(1, 100))
_FEW, _CERTAIN = 200, (1.0, 0.0)  # runs of what is seen in every single one
_ENTERED = places.entering(places.small_tables(DEEP, 1, 1), places.tables_with_unit)
_NOBODY = places.empty_table(FLAT, 1)
_FIRST = (_NOBODY, places.with_more(_NOBODY, (0, 0)))


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _unpaid()
    yield from _norms()
    yield from _gaussians()
    yield from _without_noise()
    yield from _noise_twice()


def _unpaid() -> Iterator[Planted]:
    counts = plain_design(DEEP, count_sensitivity(1, _ADD))
    wrong = "A tree of three levels is priced as two, since the top is the sum of what is published anyway."
    yield _proven("release-level-not-counted", wrong, laplace(counts, _EPSILON, [[_HALF]] * 3), _ENTERED)
    yield _drawn_level()
    wrong = "The share of one level is raised by hand and the others stay: they add up to 5/4."
    raised = [[Fraction(3, 4)], *DEEP_SHARES[1:]]
    yield _proven("release-shares-above-one", wrong, laplace(counts, _EPSILON, raised), _ENTERED)
    wrong = "Each of three views of the cells gets its level's whole share."
    whole_shares: Shares = [[sum(level, Fraction(0))] * 3 for level in VIEW_SHARES]
    views = laplace(plain_design(FLAT, count_sensitivity(1, _ADD), views=VIEWS), _EPSILON, whole_shares)
    entered = places.entering(places.small_tables(FLAT, 4, 0), places.tables_with_unit)
    yield _proven("release-marginals-not-counted", wrong, views, entered)


def _norms() -> Iterator[Planted]:
    wrong = "Sizes are measured plainly with the noise of sizes from the top: a person moves two of them, not one."
    halved = _laplace_for(plain_design(FLAT, size_sensitivity(1, _ADD), 3), count_sensitivity(1, _ADD), FLAT_SHARES)
    joined = places.entering(places.small_tables(FLAT, 3, 2), places.tables_with_person)
    yield _proven("release-plain-sizes-by-half", wrong, halved, joined)
    wrong = "A unit may go to another place and cell; its noise is that of add-remove."
    narrow = _laplace_for(
        plain_design(FLAT, count_sensitivity(1, _REPLACE), 2), count_sensitivity(1, _ADD), FLAT_SHARES
    )
    gone = places.exchanging(places.small_tables(FLAT, 2, 1), places.tables_with_unit)
    yield _proven("release-replace-one-as-add-remove", wrong, narrow, gone)
    wrong = "A person may leave one group and join another; its noise is that of add-remove."
    narrow = _laplace_for(sizes_from_top(1, _REPLACE), count_sensitivity(1, _ADD), DEEP_SHARES)
    regrouped = places.exchanging(places.small_tables(DEEP, 3, 1), places.tables_with_person)
    yield _proven("release-sizes-replace-one-as-add-remove", wrong, narrow, regrouped)


def _gaussians() -> Iterator[Planted]:
    counts, cost = plain_design(FLAT, count_sensitivity(4, _ADD)), Gaussian(_SIGMA)
    wrong = "A unit has four rows and l2 = √4: that of four cells, but all four may lie in one."
    spread = gaussian(
        replace(counts, leaf_sensitivity=cells(4, 1), level_sensitivity=cells(4, 1)), 1, Fraction(1, 100), FLAT_SHARES
    )
    together = [(_NOBODY, places.with_more(_NOBODY, *[(0, 0)] * 4))]
    yield Proven("release-l2-of-cells", wrong, cost, together, _numbers(spread))
    wrong = "σ is multiplied by the root of a level's share, not divided by it."
    design = plain_design(FLAT, count_sensitivity(1, _ADD))
    shrunk = [
        [additive.gaussian(design.level_sensitivity, _SIGMA * additive.root_up(share))] for (share,) in FLAT_SHARES
    ]
    yield Proven("release-sigma-by-share", wrong, cost, [_FIRST], _numbers(design.measured_by(shrunk)))
    wrong = "Every level gets the σ of the whole, as if a unit were in one level only."
    equal = [[additive.gaussian(design.level_sensitivity, _SIGMA)] for _ in FLAT_SHARES]
    yield Proven("release-sigma-of-one-level", wrong, cost, [_FIRST], _numbers(design.measured_by(equal)))


def _without_noise() -> Iterator[Planted]:
    nobody = places.empty_table(DEEP, 1)
    measurement = laplace(plain_design(DEEP, count_sensitivity(1, _ADD)), _EPSILON, DEEP_SHARES)
    entered = [(nobody, places.with_more(nobody, (1, 0)))]
    wrong = "Noise goes to the top and to the leaves; the level between is their sums, taken before the noise."
    yield Proven("release-inner-level-exact", wrong, _ONE, entered, _bare(measurement, range(1, 4)))
    yield _drawn_zeros(measurement, entered[0])
    wrong = "The largest size, which stands for all above, gets no noise."
    sizes = laplace(sizes_from_top(1, _ADD), _EPSILON, DEEP_SHARES)
    groups = places.with_more(places.empty_table(DEEP, 3), (1, 1))
    largest, grown = range(2, 3 * len(DEEP), 3), [(groups, places.grown(groups, 1, 2))]
    yield Proven("release-largest-size-exact", wrong, _ONE, grown, _bare(sizes, largest))


def _noise_twice() -> Iterator[Planted]:
    measurement = laplace(plain_design(FLAT, count_sensitivity(1, _ADD)), _EPSILON, FLAT_SHARES)
    side = ((5,), (7,))
    pair = (side, places.with_more(side, (1, 0)))  # a unit more in the second ward

    def draw(spread: Callable[[Ints], Ints], exact: Any, n: int, source: Source) -> Outputs:
        noise = measurement.mechanisms[0][0].noise.draw(2 * n, source).reshape(n, 2)
        noisy: Outputs = exact_layout(measurement, exact)[0] + spread(noise)
        return noisy

    wrong = "The noise is drawn once and the places of every level take it in order: the top has its first child's."
    event = Event(Difference(0, 1), "=", 7)
    reused = partial(draw, lambda noise: noise[:, [0, 0, 1]])
    yield Drawn("release-noise-of-levels-reused", wrong, Odds(_EPSILON), pair, reused, event, _CERTAIN, _FEW)
    wrong = "All places of a level share one draw, so that neighbours differ by what they are."
    event = Event(Difference(1, 2), "=", -2)
    shared = partial(draw, lambda noise: noise[:, [0, 1, 1]])
    yield Drawn("release-noise-of-places-shared", wrong, Odds(_EPSILON), pair, shared, event, _CERTAIN, _FEW)
    wrong = "The children's noise is made to cancel, so that their sum stays right."
    event = Event(OfPlaces((1, 2), "sum"), "=", 12)
    cancelled = partial(draw, lambda noise: np.column_stack([noise[:, 0], noise[:, 1], -noise[:, 1]]))
    yield Drawn("release-noise-cancels", wrong, Odds(_EPSILON), pair, cancelled, event, _CERTAIN, _FEW)


@dataclass(frozen=True)
class OfPlaces:
    """The sum or the largest of some of the numbers."""

    places: tuple[int, ...]
    function: str  # sum or largest

    def of(self, outputs: Outputs) -> Values:
        numbers = outputs[:, list(self.places)]
        values: Values = numbers.sum(axis=1) if self.function == "sum" else numbers.max(axis=1)
        return values

    def __str__(self) -> str:
        return f"{self.function} of {', '.join(f'y[{place}]' for place in self.places)}"


def _drawn_level() -> Drawn:
    """Two levels at ε each: nobody against a unit in the first ward, told by top and ward both at or below 0."""
    measurement = laplace(plain_design(FLAT, count_sensitivity(1, _ADD)), 2 * _EPSILON, [[_HALF]] * 2)
    noise = DiscreteLaplace(Fraction(1))
    chances = chance_bounds(lambda: (1 - above(noise, 0)) ** 2, lambda: (1 - above(noise, -1)) ** 2)
    draw = partial(draw_measurements, measurement)
    event = Event(OfPlaces((0, 1), "largest"), "≤", 0)
    wrong = "Two levels, each at the whole ε; seen in draws."
    return Drawn("release-level-not-counted-drawn", wrong, Odds(_EPSILON), _FIRST, draw, event, chances, 2_000)


@dataclass(frozen=True, eq=False)
class ZerosExact(Measurement):
    """The noise of every number that is 0 is taken away again; for plain counts in one view."""

    def __call__(self, exact: Any, source: Source) -> Ints:
        noisy: Ints = np.where(tree_sums(self.tree, exact) == 0, 0, super().__call__(exact, source))
        return noisy


def _drawn_zeros(measurement: Measurement, pair: places.Change) -> Drawn:
    """Nobody against a unit: the top is surely 0, or 0 only where its noise is −1."""
    zeros = ZerosExact(
        DEEP, measurement.form, measurement.marginals, measurement.leaf_sensitivity, measurement.mechanisms
    )
    rare = float(upper(lambda: mass(measurement.mechanisms[0][0].noise, -1))) + 1e-15
    draw = partial(draw_measurements, zeros)
    event = Event(OfPlaces((0,), "sum"), "=", 0)
    wrong = "What is 0 gets no noise, so that empty places stay empty."
    return Drawn("release-zeros-exact", wrong, Odds(_EPSILON), pair, draw, event, (1.0, rare), 1_000)


def _proven(name: str, wrong: str, measurement: Measurement, pairs: Pairs) -> Proven:
    return Proven(name, wrong, _ONE, pairs, _numbers(measurement))


def _numbers(measurement: Measurement) -> Callable[[Any], Numbers]:
    return partial(numbers, measurement)


def _laplace_for(design: Design, level: Sensitivity, shares: Shares) -> Measurement:
    """Laplace noise made for other norms than the design's."""
    return design.measured_by([[additive.laplace(level, _EPSILON * share) for share in row] for row in shares])


def _bare(measurement: Measurement, exact_places: Sequence[int]) -> Callable[[Any], OutputLaw]:
    """The law of the numbers without noise alone; the others are left out, for these are enough."""

    def law(exact: Any) -> OutputLaw:
        values = numbers(measurement, exact)
        return {tuple(values[place].exact for place in exact_places): arb(1)}

    return law
