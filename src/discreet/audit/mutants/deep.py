"""Planted bugs of deep learning: steps of the real training with one part exchanged.  They need torch.

Two bugs of samples are not here, because no single event shows them soon: batches that are shuffled and not sampled,
and a sample that is drawn once.  The tests of samples' laws catch those (tests/deep/test_mutants.py).
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from importlib import import_module
from math import erfc, sqrt
from typing import Any

from discreet.audit.bounds import Odds, Shift, Test
from discreet.audit.deep_claims import has_torch
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Difference, NoNumber, Outputs
from discreet.audit.laws import Number
from discreet.audit.mutants.moved import Along
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.audit.trial import Pair, readings
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.source import Source
from discreet.privacy.cost import Gaussian

_CERTAIN, _FEW = (1.0, 0.0), 200
_SLACK = 1e-3  # of a chance: clips are shorter by 2⁻¹⁰, and noise lies on a lattice
_ONE, _HALF = Fraction(1), Fraction(1, 2)
_AHEAD, _ASIDE = ((1.0, 0.0),), ((0.0, 1.0),)
_MANY = 16


def _gauss(deviations: float) -> tuple[float, float]:
    """The chances of an event that lies so many standard deviations from both means, between them."""
    beyond = erfc(deviations / sqrt(2)) / 2
    return 1 - beyond - _SLACK, beyond + _SLACK


_SURE = _gauss(7.9)  # of numbers 16 deviations apart, less what clipping to almost the clip takes


def bugs() -> Iterator[Planted]:
    """All bugs of this module; those that are drawn need torch."""
    yield _half_a_step()
    if has_torch():
        yield from _clipping()
        yield from _noise()
        yield from _batches()


def _half_a_step() -> Proven:
    """Four numbers and a clip of 2.1 steps: each number moves by 1.05 steps, and rounding makes 2 of it.

    The sensitivity 2.1 + √4 covers the move √(4·2²) = 4, and 2.1 + √4/2 = 3.1 does not.
    """
    wrong = "Rounding the sum is paid with half a step for each number; two sums may round apart by a whole one."
    noise, pair = RoundedGaussian(Fraction("3.1")), ((0,) * 4, (2,) * 4)
    return Proven(
        "deep-half-a-step", wrong, Gaussian(_ONE), [pair], lambda exact: tuple(Number(noise, x) for x in exact)
    )


def _clipping() -> Iterator[Planted]:
    wrong = "The sum of a batch is clipped, and not each person's gradient."
    steps = _steps(_ONE, Fraction(5, 7), 1)
    pair: Pair = ((((10.0, 0.0),), ((-20.0, 0.0),)), (((10.0, 0.0),),))
    yield _drawn_bug("batch-clipped", wrong, steps, pair, Event(Coordinate(0), "≤", 0.0), _gauss(1.4), 800)
    wrong = "Each of a person's rows is clipped, and not their sum."
    steps = _steps(_ONE, _ONE, 1, max_rows=_MANY)
    yield _drawn_bug("rows-clipped", wrong, steps, ((_AHEAD * _MANY,), ()), _above(0, _MANY / 2), _SURE)
    wrong = "A gradient's length is that of its first layer alone."
    yield _drawn_bug("norm-of-one-layer", wrong, _steps(_ONE, _ONE, 1), ((((0.0, 1e6),),), ()), _above(1, 5e5), _SURE)
    wrong = "Automatic clipping divides by the mean length of a batch, so that nothing bounds a long gradient."
    others = (((0.0, 0.0),),) * (_MANY - 1)
    pair = ((*others, ((100.0, 0.0),)), others)
    yield _drawn_bug("automatic-unbounded", wrong, _steps(_ONE, _ONE, 1), pair, _above(0, _MANY / 2), _SURE)
    wrong = "A gradient that is not a number is added to the sum."
    pair = ((((float("nan"), 0.0),),), ())
    event = Event(NoNumber(0), "=", 1)
    yield _drawn_bug("nan", wrong, _steps(_ONE, _ONE, 1), pair, event, _CERTAIN)


def _noise() -> Iterator[Planted]:
    step = _steps(_ONE, _ONE, 1)
    wrong = "Only the first layer gets noise."
    yield _drawn_bug("noise-on-one-layer", wrong, step, ((_ASIDE,), ()), _above(1, 0.5), _CERTAIN)
    wrong = "σ is divided by the batch before noise is added to the sum, and the noisy sum is divided again."
    yield _drawn_bug("sigma-twice", wrong, _steps(_ONE, _ONE, 1, divisor=_MANY), ((_AHEAD,), ()), _above(0, 0.5), _SURE)
    wrong = "Each gradient gets its share of the noise before the sum, so that nobody's sum has none."
    event = Event(Coordinate(0), "=", 0.0)
    yield _drawn_bug("noise-by-example", wrong, _steps(_ONE, _ONE, 1, divisor=4), ((), (_AHEAD,)), event, _CERTAIN)
    wrong = "Two steps share their noise, and their difference has none."
    event = Event(Difference(0, 2), "≥", 0.5)
    chances = 0.25 - 1e-9, 0.0
    yield _drawn_bug("noise-repeated", wrong, _steps(_HALF, Fraction(8), 2), ((_AHEAD,), ()), event, chances, 600)


def _batches() -> Iterator[Planted]:
    wrong = "A sum is divided by the batch that came; the noise is that of the expected one."
    steps = _steps(_ONE, _ONE, 1, divisor=_MANY)
    yield _drawn_bug("realised-batch", wrong, steps, ((_AHEAD,), ()), _above(0, _MANY / 2), _SURE)
    wrong = "The buffer of the sum is not emptied before a step, so that a person stays in all steps after hers."
    ramp = tuple(float(step) for step in range(1, 10) for _ in range(2))
    yield _along("buffer", wrong, 3, ramp, sqrt(285) / 3)
    wrong = "A training that was taken up again states the price of its last step alone."
    yield _along("fresh-accountant", wrong, 1, (1.0, 1.0) * 9, 3.0)


def _along(name: str, wrong: str, sigma: int, means: tuple[float, ...], shift: float) -> Drawn:
    """Nine steps with these sums, each number of a step beside one of mere noise; the claim is μ = 1."""
    steps = _steps(_ONE, Fraction(sigma), 9)
    ahead = [mean * (place % 2 == 0) for place, mean in enumerate(means)]
    length = sqrt(sum(mean * mean for mean in ahead))
    event = Event(Along(tuple(mean / length for mean in ahead)), "≥", length / 2)
    return _drawn_bug(name, wrong, steps, ((_AHEAD,), ()), event, _gauss(shift / 2), 300, test=Shift(_ONE))


def _drawn_bug(
    name: str,
    wrong: str,
    steps: Any,
    pair: Pair,
    event: Event,
    chances: tuple[float, float],
    runs: int = _FEW,
    *,
    test: Test | None = None,
) -> Drawn:
    reading = test or _first_reading(steps)
    return Drawn(f"deep-{name}", wrong, reading, pair, partial(_draw, name, steps), event, chances, runs, 2 * runs)


def _first_reading(steps: Any) -> Test:
    from discreet.audit.claim import merged_gaussians

    reading: Odds | Shift = readings(merged_gaussians(steps.cost))[0]
    return reading


def _draw(name: str, steps: Any, exact: Any, n: int, source: Source) -> Outputs:
    outputs: Outputs = import_module("discreet.deep.audit.wrong").draw_wrong(name, steps, exact, n, source)
    return outputs


def _steps(rate: Fraction, sigma: Fraction, steps: int, **options: Any) -> Any:
    return import_module("discreet.deep.audit.tiny").Steps(rate, sigma, steps, **options)


def _above(place: int, middle: float) -> Event:
    return Event(Coordinate(place), "≥", middle)
