"""Planted bugs of tables over a tree: levels, views and rows that are not paid for, and noise that is not everywhere.

A parent whose noise is the sum of its children's is none of these: it is their sum, which costs nothing more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from discreet.audit import places
from discreet.audit.bounds import Odds
from discreet.audit.brute import Pairs
from discreet.audit.events import Event
from discreet.audit.features import Difference, Outputs, Values
from discreet.audit.forest import measured, placed
from discreet.audit.laws import Numbers, OutputLaw, above, mass, numbers
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.audit.places import DEEP, DEEP_SHARES, FLAT, FLAT_SHARES, VIEW_SHARES, VIEWS, plainly
from discreet.audit.release_claims import from_top
from discreet.bounded import Sensitivity, cells
from discreet.mechanism import additive
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Source
from discreet.privacy import calibrate
from discreet.privacy.cost import Gaussian, Pure
from discreet.real import lower, upper
from discreet.relation import Relation
from discreet.release.measure import Design, Measurement, Shares, count_sensitivity, gaussian, laplace, size_sensitivity
from discreet.release.tree import tree_sums

_ADD, _REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
_EPSILON = Fraction(1)
_ONE = Pure(_EPSILON)
_HALF = Fraction(1, 2)
_SIGMA = calibrate.gaussian_sigma(1, Fraction(1, 100))
_FEW, _CERTAIN = 200, (1.0, 0.0)  # runs of what is seen in every single one
_ENTERED = places.entering(places.small(DEEP, 1, 1), places.counted)
_NOBODY = places.empty(FLAT, 1)
_FIRST = (_NOBODY, places.with_more(_NOBODY, (0, 0)))


def planted() -> Iterator[Planted]:
    """All of this room."""
    yield from _unpaid()
    yield from _norms()
    yield from _gaussians()
    yield from _without_noise()
    yield from _noise_twice()


def _unpaid() -> Iterator[Planted]:
    counts = plainly(DEEP, count_sensitivity(1, _ADD))
    wrong = "A tree of three levels is priced as two, since the top is the sum of what is published anyway."
    yield _proven("release-level-not-counted", wrong, laplace(counts, _EPSILON, [[_HALF]] * 3), _ENTERED)
    yield _drawn_level()
    wrong = "The share of one level is raised by hand and the others stay: they add up to 5/4."
    raised = [[Fraction(3, 4)], *DEEP_SHARES[1:]]
    yield _proven("release-shares-above-one", wrong, laplace(counts, _EPSILON, raised), _ENTERED)
    wrong = "Each of three views of the cells gets its level's whole share."
    whole: Shares = [[sum(level, Fraction(0))] * 3 for level in VIEW_SHARES]
    seen = laplace(plainly(FLAT, count_sensitivity(1, _ADD), views=VIEWS), _EPSILON, whole)
    entered = places.entering(places.small(FLAT, 4, 0), places.counted)
    yield _proven("release-marginals-not-counted", wrong, seen, entered)


def _norms() -> Iterator[Planted]:
    wrong = "Sizes are measured plainly with the noise of sizes from the top: a person moves two of them, not one."
    halved = _noised(plainly(FLAT, size_sensitivity(1, _ADD), 3), count_sensitivity(1, _ADD), FLAT_SHARES)
    joined = places.entering(places.small(FLAT, 3, 2), places.joined)
    yield _proven("release-plain-sizes-by-half", wrong, halved, joined)
    wrong = "A unit may go to another place and cell; its noise is that of add-remove."
    narrow = _noised(plainly(FLAT, count_sensitivity(1, _REPLACE), 2), count_sensitivity(1, _ADD), FLAT_SHARES)
    gone = places.exchanging(places.small(FLAT, 2, 1), places.counted)
    yield _proven("release-replace-one-as-add-remove", wrong, narrow, gone)
    wrong = "A person may leave one group and join another; its noise is that of add-remove."
    narrow = _noised(from_top(1, _REPLACE), count_sensitivity(1, _ADD), DEEP_SHARES)
    left = places.exchanging(places.small(DEEP, 3, 1), places.joined)
    yield _proven("release-sizes-replace-one-as-add-remove", wrong, narrow, left)


def _gaussians() -> Iterator[Planted]:
    counts, cost = plainly(FLAT, count_sensitivity(4, _ADD)), Gaussian(_SIGMA)
    wrong = "A unit has four rows and l2 = √4: that of four cells, but all four may lie in one."
    spread = gaussian(
        replace(counts, leaf_sensitivity=cells(4, 1), level_sensitivity=cells(4, 1)), 1, Fraction(1, 100), FLAT_SHARES
    )
    together = [(_NOBODY, places.with_more(_NOBODY, *[(0, 0)] * 4))]
    yield Proven("release-l2-of-cells", wrong, cost, together, _numbers(spread))
    wrong = "σ is multiplied by the root of a level's share, not divided by it."
    one = plainly(FLAT, count_sensitivity(1, _ADD))
    shrunk = [[additive.gaussian(one.level_sensitivity, _SIGMA * additive.root_up(share))] for (share,) in FLAT_SHARES]
    made = one.measured_by(shrunk)
    yield Proven("release-sigma-by-share", wrong, cost, [_FIRST], _numbers(made))
    wrong = "Every level gets the σ of the whole, as if a unit were in one level only."
    every = [[additive.gaussian(one.level_sensitivity, _SIGMA)] for _ in FLAT_SHARES]
    made = one.measured_by(every)
    yield Proven("release-sigma-of-one-level", wrong, cost, [_FIRST], _numbers(made))


def _without_noise() -> Iterator[Planted]:
    made, nobody = laplace(plainly(DEEP, count_sensitivity(1, _ADD)), _EPSILON, DEEP_SHARES), places.empty(DEEP, 1)
    entered = [(nobody, places.with_more(nobody, (1, 0)))]
    wrong = "Noise goes to the top and to the leaves; the level between is their sums, taken before the noise."
    yield Proven("release-inner-level-exact", wrong, _ONE, entered, _bare(made, range(1, 4)))
    yield _drawn_zeros(made, entered[0])
    wrong = "The largest size, which stands for all above, gets no noise."
    sizes, groups = laplace(from_top(1, _ADD), _EPSILON, DEEP_SHARES), places.with_more(places.empty(DEEP, 3), (1, 1))
    largest, grown = range(2, 3 * len(DEEP), 3), [(groups, places.grown(groups, 1, 2))]
    yield Proven("release-largest-size-exact", wrong, _ONE, grown, _bare(sizes, largest))


def _noise_twice() -> Iterator[Planted]:
    made = laplace(plainly(FLAT, count_sensitivity(1, _ADD)), _EPSILON, FLAT_SHARES)
    side = ((5,), (7,))
    pair = (side, places.with_more(side, (1, 0)))  # a unit more in the second ward

    def drawn(spread: Callable[[Ints], Ints]) -> Callable[[Any, int, Source], Outputs]:
        def draw(exact: Any, n: int, source: Source) -> Outputs:
            noise = made.mechanisms[0][0].noise.draw(2 * n, source).reshape(n, 2)
            noisy: Outputs = placed(made, exact)[0] + spread(noise)
            return noisy

        return draw

    wrong = "The noise is drawn once and the places of every level take it in order: the top has its first child's."
    event = Event(Difference(0, 1), "=", 7)
    again = drawn(lambda noise: noise[:, [0, 0, 1]])
    yield Drawn("release-noise-of-levels-reused", wrong, Odds(_EPSILON), pair, again, event, _CERTAIN, _FEW)
    wrong = "All places of a level share one draw, so that neighbours differ by what they are."
    event = Event(Difference(1, 2), "=", -2)
    alike = drawn(lambda noise: noise[:, [0, 1, 1]])
    yield Drawn("release-noise-of-places-shared", wrong, Odds(_EPSILON), pair, alike, event, _CERTAIN, _FEW)
    wrong = "The children's noise is made to cancel, so that their sum stays right."
    event = Event(OfPlaces((1, 2), "sum"), "=", 12)
    cancelled = drawn(lambda noise: np.column_stack([noise[:, 0], noise[:, 1], -noise[:, 1]]))
    yield Drawn("release-noise-cancels", wrong, Odds(_EPSILON), pair, cancelled, event, _CERTAIN, _FEW)


@dataclass(frozen=True)
class OfPlaces:
    """The sum or the largest of some of the numbers."""

    places: tuple[int, ...]
    what: str

    def of(self, outputs: Outputs) -> Values:
        some = outputs[:, list(self.places)]
        found: Values = some.sum(axis=1) if self.what == "sum" else some.max(axis=1)
        return found

    def __str__(self) -> str:
        return f"{self.what} of {', '.join(f'y[{place}]' for place in self.places)}"


def _drawn_level() -> Drawn:
    """Two levels at ε each: nobody against a unit in the first ward, told by top and ward both at or below 0."""
    made = laplace(plainly(FLAT, count_sensitivity(1, _ADD)), 2 * _EPSILON, [[_HALF]] * 2)
    noise = DiscreteLaplace(Fraction(1))
    chances = (
        float(lower(lambda: (1 - above(noise, 0)) ** 2)) - 1e-15,
        float(upper(lambda: (1 - above(noise, -1)) ** 2)) + 1e-15,
    )

    def draw(exact: Any, n: int, source: Source) -> Outputs:
        return measured(made, exact, n, source)

    event = Event(OfPlaces((0, 1), "largest"), "≤", 0)
    wrong = "Two levels, each at the whole ε; seen in draws."
    return Drawn("release-level-not-counted-drawn", wrong, Odds(_EPSILON), _FIRST, draw, event, chances, 2_000)


@dataclass(frozen=True, eq=False)
class ZerosExact(Measurement):
    """The noise of every number that is 0 is taken away again; for plain counts in one view."""

    def __call__(self, exact: Any, source: Source) -> Ints:
        noisy: Ints = np.where(tree_sums(self.tree, exact) == 0, 0, super().__call__(exact, source))
        return noisy


def _drawn_zeros(made: Measurement, pair: places.Change) -> Drawn:
    """Nobody against a unit: the top is surely 0, or 0 only where its noise is −1."""
    zeros = ZerosExact(made.tree, made.form, made.marginals, made.leaf_sensitivity, made.mechanisms)
    rare = float(upper(lambda: mass(made.mechanisms[0][0].noise, -1))) + 1e-15

    def draw(exact: Any, n: int, source: Source) -> Outputs:
        return measured(zeros, exact, n, source)

    event = Event(OfPlaces((0,), "sum"), "=", 0)
    wrong = "What is 0 gets no noise, so that empty places stay empty."
    return Drawn("release-zeros-exact", wrong, Odds(_EPSILON), pair, draw, event, (1.0, rare), 1_000)


def _proven(name: str, wrong: str, made: Measurement, pairs: Pairs) -> Proven:
    return Proven(name, wrong, _ONE, pairs, _numbers(made))


def _numbers(made: Measurement) -> Callable[[Any], Numbers]:
    return lambda exact: numbers(made, exact)


def _noised(design: Design, level: Sensitivity, shares: Shares) -> Measurement:
    """Laplace noise made for other norms than the design's."""
    noise = [[additive.laplace(level, _EPSILON * share) for share in each] for each in shares]
    return design.measured_by(noise)


def _bare(made: Measurement, exact_ones: Sequence[int]) -> Callable[[Any], OutputLaw]:
    """What is seen of the numbers without noise; the others may be left out, for this is enough."""

    def found(exact: Any) -> OutputLaw:
        shown = numbers(made, exact)
        return {tuple(shown[place].at for place in exact_ones): arb(1)}

    return found
