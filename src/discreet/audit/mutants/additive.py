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
from discreet.audit.laws import OutputLaw, above, independent, mass, windowed
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.audit.trial import Draw
from discreet.mechanism.additive import Law as Noise
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, Geometric
from discreet.noise.source import Source
from discreet.privacy.cost import Approx, Pure
from discreet.real import lower, upper

_FEW = ((0, 1), (3, 4))
_WINDOW = range(-3, 8)
_ONE = Pure(Fraction(1))


def planted() -> Iterator[Planted]:
    """All of this room."""
    yield from _scales()
    yield from _norms()
    yield from _clamps()
    yield from _off_lattice()
    yield _key_threshold()


def _scales() -> Iterator[Planted]:
    half = DiscreteLaplace(Fraction(1, 2))
    yield Proven("laplace-half-scale", "The scale is Δ/2ε.", _ONE, _FEW, _noisy(half))
    # At ε = 1 this bug is invisible, and at ε = 2 it only wastes accuracy; at ε = ½ it costs 2.
    yield _shifted("laplace-scale-epsilon", "The scale is ε, not 1/ε.", Odds(Fraction(1, 2)), half, 2_000)
    wrong = "σ = 4 is taken for the variance."
    yield _shifted("gaussian-variance", wrong, Shift(Fraction(1, 4)), RoundedGaussian(Fraction(2)), 20_000)
    wrong = "The noise is one-sided, so nothing below the exact value is ever seen."
    yield Proven("one-sided-noise", wrong, _ONE, _FEW, _one_sided)
    wrong = "Noise is drawn again until the answer is not negative: how often depends on the exact value."
    yield Proven("redrawn-until-positive", wrong, _ONE, ((0, 1), (1, 2)), _redrawn)


def _norms() -> Iterator[Planted]:
    unit = DiscreteLaplace(Fraction(1))
    wrong = "The scale is l2/ε for four cells; Laplace noise needs l1/ε."
    yield Proven("laplace-by-l2", wrong, _ONE, (((0,) * 4, (1,) * 4),), _noisy(DiscreteLaplace(Fraction(2)), range(2)))
    wrong = "A unit touches three cells and the noise is made for one."
    yield Proven("one-cell-for-all", wrong, _ONE, (((0,) * 3, (1,) * 3),), _noisy(unit, range(3)))
    wrong = "A row changes its value, which moves two cells; the noise is that of add-remove."
    yield Proven("replace-one-as-add-remove", wrong, _ONE, one_row_other(rows=2), _noisy(unit, range(3)))
    wrong = "Two rows of one unit are counted and the noise is made for one."
    twice = [(h, (h[0] + 2, *h[1:])) for h, _ in one_row_more(2, 2)]
    yield Proven("row-cap-ignored", wrong, _ONE, twice, _noisy(unit, range(5)))


def _clamps() -> Iterator[Planted]:
    unit = DiscreteLaplace(Fraction(1))

    def late(rows: tuple[int, ...]) -> OutputLaw:
        return windowed(unit, max(0, min(10, sum(rows))), range(12))

    wrong = "The sum is clamped to [0, 10], the rows are not: Δ is 10, not 1."
    yield Proven("clamp-after-sum", wrong, _ONE, (((1, 0), (1, 0, 1000)), ((), (7,))), late)
    wrong = "The noisy answer is clamped to [0, 10]; the exact one may move by 1,000."
    event, runs = Event(Coordinate(0), "=", 10), 2_000
    chances = (1.0 - 1e-12, _chance(unit, 4)[1])
    yield Drawn("clamp-after-noise", wrong, Odds(Fraction(1)), (1_005, 5), _clipped(unit), event, chances, runs)
    wrong = "A row that is no number passes min(max(x, 0), 1), and the sum is no number."
    event = Event(NoNumber(0), "=", 1)
    rows = ((0.5, float("nan")), (0.5,))
    yield Drawn("nan-through-clamp", wrong, Odds(Fraction(1)), rows, _float_sum(unit), event, (1.0, 0.0), 200)


def _off_lattice() -> Iterator[Planted]:
    unit = DiscreteLaplace(Fraction(1))
    wrong = "A number off the lattice is taken, and whole noise leaves its fraction as it was."
    pair = ((Fraction(0), Fraction(1, 2)),)
    yield Proven("fraction-kept", wrong, _ONE, pair, lambda x: {x + k: mass(unit, k) for k in _WINDOW})
    wrong = "The noise is added to a masked array, whose mask goes out with it."
    yield Proven("mask-kept", wrong, _ONE, ((0, 1),), lambda mask: {(k, mask): mass(unit, k) for k in _WINDOW})


def _key_threshold() -> Planted:
    """With δ = P[1 + noise > τ] a key must pass τ strictly; here it may also meet it."""
    unit, threshold = DiscreteLaplace(Fraction(1)), 8
    delta = upper(lambda: unit.above(threshold - 1))

    def released(units: int) -> OutputLaw:
        shown = above(unit, threshold - 1 - units) if units else arb(0)  # a key nobody has is not there to be shown
        return {"shown": shown, "absent": 1 - shown}

    wrong = "A key of one unit is released at noisy ≥ τ where δ was computed for noisy > τ."
    return Proven("threshold-off-by-one", wrong, Approx(Fraction(1), delta), ((0, 1),), released)


def _noisy(noise: Noise, window: range = _WINDOW) -> Callable[[Any], OutputLaw]:
    def found(exact: Any) -> OutputLaw:
        flat = exact if isinstance(exact, tuple) else (exact,)
        return independent([windowed(noise, x, window) for x in flat])

    return found


def _shifted(name: str, wrong: str, test: Odds | Shift, noise: Noise, runs: int) -> Drawn:
    """Counts 1 and 0, told apart by y ≥ 1."""

    def draw(exact: int, n: int, source: Source) -> Outputs:
        return exact + noise.draw(n, source)

    chances = (_chance(noise, -1)[0], _chance(noise, 0)[1])
    return Drawn(name, wrong, test, (1, 0), draw, Event(Coordinate(0), "≥", 1), chances, runs)


def _chance(noise: Noise, t: int) -> tuple[float, float]:
    """P[noise > t], rounded down and up."""
    return float(lower(lambda: above(noise, t))) - 1e-15, float(upper(lambda: above(noise, t))) + 1e-15


def _one_sided(exact: int) -> OutputLaw:
    noise = Geometric(Fraction(1))
    return {k: noise.mass(k - exact) for k in _WINDOW}


def _redrawn(exact: int) -> OutputLaw:
    noise = DiscreteLaplace(Fraction(1))
    kept = above(noise, -1 - exact)
    return {k: mass(noise, k - exact) / kept for k in range(8)}


def _clipped(noise: DiscreteLaplace) -> Draw:
    def draw(exact: int, n: int, source: Source) -> Outputs:
        clipped: Outputs = np.clip(exact + noise.draw(n, source), 0, 10)
        return clipped

    return draw


def _float_sum(noise: DiscreteLaplace) -> Draw:
    def draw(rows: tuple[float, ...], n: int, source: Source) -> Outputs:
        total = sum(np.minimum(np.maximum(row, 0.0), 1.0) for row in rows)
        noisy: Outputs = total + noise.draw(n, source).astype(np.float64)
        return noisy

    return draw
