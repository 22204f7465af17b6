"""Planted bugs of added noise: wrong scale, wrong norm, wrong neighbours, wrong order of clamp and sum."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from discreet.audit.bounds import Odds, Shift
from discreet.audit.brute import one_row_more, one_row_other
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, NoNumber, Outputs
from discreet.audit.laws import OutputLaw, above, independent, mass, window_law
from discreet.audit.mutants.planted import Drawn, Planted, Proven, chance_bounds
from discreet.mechanism.additive import Law as Noise
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, Geometric
from discreet.noise.source import Source
from discreet.privacy.cost import Approx, Pure
from discreet.real import upper

_FEW = ((0, 1), (3, 4))
_WINDOW = range(-3, 8)
_ONE = Pure(Fraction(1))
_UNIT = DiscreteLaplace(Fraction(1))


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _scales()
    yield from _norms()
    yield from _clamps()
    yield from _off_lattice()
    yield _key_threshold()


def _scales() -> Iterator[Planted]:
    half = DiscreteLaplace(Fraction(1, 2))
    yield Proven("laplace-half-scale", "The scale is Δ/2ε.", _ONE, _FEW, _noise_law(half))
    # At ε = 1 this bug is invisible, and at ε = 2 it only wastes accuracy; at ε = ½ it costs 2.
    yield _drawn_at_one("laplace-scale-epsilon", "The scale is ε, not 1/ε.", Odds(Fraction(1, 2)), half, 2_000)
    wrong = "σ = 4 is taken for the variance."
    yield _drawn_at_one("gaussian-variance", wrong, Shift(Fraction(1, 4)), RoundedGaussian(Fraction(2)), 20_000)
    wrong = "The noise is one-sided, so nothing below the exact value is ever seen."
    yield Proven("one-sided-noise", wrong, _ONE, _FEW, _one_sided)
    wrong = "Noise is drawn again until the answer is not negative: how often depends on the exact value."
    yield Proven("redrawn-until-positive", wrong, _ONE, ((0, 1), (1, 2)), _redrawn)


def _norms() -> Iterator[Planted]:
    wrong = "The scale is l2/ε for four cells; Laplace noise needs l1/ε."
    double = DiscreteLaplace(Fraction(2))
    yield Proven("laplace-by-l2", wrong, _ONE, (((0,) * 4, (1,) * 4),), _noise_law(double, range(2)))
    wrong = "A unit touches three cells and the noise is made for one."
    yield Proven("one-cell-for-all", wrong, _ONE, (((0,) * 3, (1,) * 3),), _noise_law(_UNIT, range(3)))
    wrong = "A row changes its value, which moves two cells; the noise is that of add-remove."
    yield Proven("replace-one-as-add-remove", wrong, _ONE, one_row_other(rows=2), _noise_law(_UNIT, range(3)))
    wrong = "Two rows of one unit are counted and the noise is made for one."
    twice = [(h, (h[0] + 2, *h[1:])) for h, _ in one_row_more(2, 2)]
    yield Proven("row-cap-ignored", wrong, _ONE, twice, _noise_law(_UNIT, range(5)))


def _clamps() -> Iterator[Planted]:

    def late(rows: tuple[int, ...]) -> OutputLaw:
        return window_law(_UNIT, max(0, min(10, sum(rows))), range(12))

    wrong = "The sum is clamped to [0, 10], the rows are not: Δ is 10, not 1."
    yield Proven("clamp-after-sum", wrong, _ONE, (((1, 0), (1, 0, 1000)), ((), (7,))), late)
    wrong = "The noisy answer is clamped to [0, 10]; the exact one may move by 1,000."
    event, runs = Event(Coordinate(0), "=", 10), 2_000
    chances = chance_bounds(lambda: 1 - above(_UNIT, 900), lambda: above(_UNIT, 4))
    yield Drawn("clamp-after-noise", wrong, Odds(Fraction(1)), (1_005, 5), _clipped_draw, event, chances, runs)
    wrong = "A row that is no number passes min(max(x, 0), 1), and the sum is no number."
    event = Event(NoNumber(0), "=", 1)
    rows = ((0.5, float("nan")), (0.5,))
    yield Drawn("nan-through-clamp", wrong, Odds(Fraction(1)), rows, _float_sum, event, (1.0, 0.0), 200)


def _off_lattice() -> Iterator[Planted]:
    wrong = "A number off the lattice is taken, and whole noise leaves its fraction as it was."
    pair = ((Fraction(0), Fraction(1, 2)),)
    yield Proven("fraction-kept", wrong, _ONE, pair, lambda x: {x + k: mass(_UNIT, k) for k in _WINDOW})
    wrong = "A mean divides its noisy sum by the exact number of rows, so halves are seen with two rows alone."
    yield Proven("mean-by-exact-rows", wrong, _ONE, ((1, 2),), _mean_by_rows)
    wrong = "The noise is added to a masked array, whose mask goes out with it."
    yield Proven("mask-kept", wrong, _ONE, ((0, 1),), lambda mask: {(k, mask): mass(_UNIT, k) for k in _WINDOW})


def _key_threshold() -> Planted:
    """With δ = P[1 + noise > τ] a key must pass τ strictly; here it may also meet it."""
    threshold = 8
    delta = upper(lambda: _UNIT.above(threshold - 1))

    def law(units: int) -> OutputLaw:
        shown = above(_UNIT, threshold - 1 - units) if units else arb(0)  # a key nobody has is never shown
        return {"shown": shown, "absent": 1 - shown}

    wrong = "A key of one unit is released at noisy ≥ τ where δ was computed for noisy > τ."
    return Proven("threshold-off-by-one", wrong, Approx(Fraction(1), delta), ((0, 1),), law)


def _noise_law(noise: Noise, window: range = _WINDOW) -> Callable[[Any], OutputLaw]:
    def law(exact: Any) -> OutputLaw:
        flat = exact if isinstance(exact, tuple) else (exact,)
        return independent([window_law(noise, x, window) for x in flat])

    return law


def _drawn_at_one(name: str, wrong: str, test: Odds | Shift, noise: Noise, runs: int) -> Drawn:
    """Counts 1 and 0, told apart by y ≥ 1."""

    def draw(exact: int, n: int, source: Source) -> Outputs:
        return exact + noise.draw(n, source)

    chances = chance_bounds(lambda: above(noise, -1), lambda: above(noise, 0))
    return Drawn(name, wrong, test, (1, 0), draw, Event(Coordinate(0), "≥", 1), chances, runs)


def _one_sided(exact: int) -> OutputLaw:
    noise = Geometric(Fraction(1))
    return {k: noise.mass(k - exact) for k in _WINDOW}


def _mean_by_rows(rows: int) -> OutputLaw:
    """Of rows that are all 0: noise divided by how many there are."""
    return {Fraction(k, rows): mass(_UNIT, k) for k in range(rows * _WINDOW.start, rows * _WINDOW.stop)}


def _redrawn(exact: int) -> OutputLaw:
    not_negative = above(_UNIT, -1 - exact)
    return {k: mass(_UNIT, k - exact) / not_negative for k in range(8)}


def _clipped_draw(exact: int, n: int, source: Source) -> Outputs:
    clipped: Outputs = np.clip(exact + _UNIT.draw(n, source), 0, 10)
    return clipped


def _float_sum(rows: tuple[float, ...], n: int, source: Source) -> Outputs:
    total = sum(np.minimum(np.maximum(row, 0.0), 1.0) for row in rows)
    noisy: Outputs = total + _UNIT.draw(n, source).astype(np.float64)
    return noisy
