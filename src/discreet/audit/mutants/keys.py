"""Planted bugs of private keys: thresholds for one key, for other noise, for rows; noise for one group."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from flint import arb

from discreet.audit.bounds import Odds
from discreet.audit.brute import keys_entered, keys_exchanged
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Outputs
from discreet.audit.laws import OutputLaw, above, mass, selection_law
from discreet.audit.mutants.planted import Drawn, Planted, Proven
from discreet.mechanism.additive import Law as Noise
from discreet.mechanism.keys import gaussian_key_selection, key_selection
from discreet.noise.source import Source
from discreet.privacy.cost import Approx, Gaussian, Together
from discreet.real import lower

_DELTA = Fraction(1, 100)
_THREE = (((0, 0, 0), (1, 1, 1)),)


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    yield from _thresholds()
    yield from _noises()
    yield from _exact()


def _thresholds() -> Iterator[Planted]:
    right = key_selection(3, 1, _DELTA)
    promise, three = right.cost, right.noise
    alone = key_selection(1, Fraction(1, 3), _DELTA)  # the same noise, for units in one group
    wrong = "δ is spent on each key of a unit that has three."
    yield Proven("keys-delta-per-key", wrong, promise, _THREE, _released_at(alone.threshold, three))
    wrong = "The threshold is that of noise for one group, the noise that for three."
    scale_1 = key_selection(3, 3, _DELTA).threshold
    yield Proven("keys-threshold-of-other-noise", wrong, promise, _THREE, _released_at(scale_1, three))
    single = key_selection(1, 1, _DELTA)
    wrong = "τ = 1 + ln(1/2δ) = 4.91, the threshold of continuous noise, is cut to 4."
    yield Proven("keys-threshold-rounded-down", wrong, single.cost, (((0,), (1,)),), _released_at(4, single.noise))
    wrong = "Rows are counted, of which one unit has five, and not units."
    yield Proven("keys-of-rows", wrong, single.cost, (((0,), (5,)),), _released_at(single.threshold, single.noise))
    yield _threshold_met()


def _threshold_met() -> Drawn:
    """The real mechanism, let through at count + noise ≥ τ, on a key of one unit that the other table has not."""
    single = key_selection(1, 2, _DELTA)
    loose = replace(single, threshold=single.threshold - 1)

    def draw(counts: tuple[int, ...], n: int, source: Source) -> Outputs:
        return loose(np.tile(np.array(counts), n), source).astype(np.int64)

    chance = float(lower(lambda: above(single.noise, single.threshold - 2))) - 1e-15
    wrong = "A key is released where count + noise meets τ and does not pass it; seen in released keys."
    event, test = Event(Coordinate(0), "=", 1), Odds(Fraction(2), _DELTA)
    return Drawn("keys-threshold-met-drawn", wrong, test, ((1,), (0,)), draw, event, (chance, 0.0), 120_000)


def _noises() -> Iterator[Planted]:
    single = key_selection(1, 1, _DELTA)
    tau, promise = single.threshold, key_selection(3, 1, _DELTA).cost
    scale_1 = key_selection(3, 3, _DELTA).threshold
    wrong = "A unit has three keys and the scale is 1/ε, not 3/ε."
    three = keys_entered((scale_1,), 3, 3)
    yield Proven("keys-noise-of-one-group", wrong, promise, three, _released_at(scale_1, single.noise))
    wrong = "A unit leaves one key for another, which moves two counts; the noise is that of add-remove."
    swapped = keys_exchanged((tau - 1, tau), 2, 1)
    yield Proven("keys-by-replacement", wrong, single.cost, swapped, _released_at(tau, single.noise))
    normal = gaussian_key_selection(4, 2, Fraction(1, 10**4))
    wrong = "A unit has four keys and μ is 1/σ, not √4/σ."
    cost = Together((Gaussian(Fraction(2)), Approx(Fraction(0), Fraction(1, 10**4))))
    four = keys_entered((normal.threshold,), 4, 4)
    yield Proven("keys-gaussian-of-one-group", wrong, cost, four, _released_at(normal.threshold, normal.noise))
    wrong = "All keys get the same noise, so that of two counts the larger is told."
    larger = (((tau, tau), (tau + 1, tau)),)
    yield Proven("keys-shared-noise", wrong, single.cost, larger, partial(_shared_noise, tau, single.noise))


def _exact() -> Iterator[Planted]:
    single = key_selection(1, 1, _DELTA)
    tau = single.threshold

    def without_noise(counts: tuple[int, ...]) -> OutputLaw:
        return {tuple(int(c > tau) for c in counts): arb(1)}

    wrong = "A key is released where its exact count is above τ."
    yield Proven("keys-without-noise", wrong, single.cost, (((tau,), (tau + 1,)),), without_noise)

    def with_key_count(counts: tuple[int, ...]) -> OutputLaw:
        return {(len([c for c in counts if c]), *y): p for y, p in selection_law(counts, tau, single.noise).items()}

    wrong = "How many keys there are is told beside those released."
    yield Proven("keys-present-told", wrong, single.cost, (((5, 0), (5, 1)),), with_key_count)


def _shared_noise(threshold: int, noise: Noise, counts: tuple[int, ...]) -> OutputLaw:
    """The law of one noise for all keys."""
    law: OutputLaw = dict.fromkeys(product((0, 1), repeat=len(counts)), arb(0))
    for k in range(-40, 41):
        law[tuple(int(c + k > threshold) for c in counts)] += mass(noise, k)
    return law


def _released_at(threshold: int, noise: Noise) -> Callable[[tuple[int, ...]], OutputLaw]:
    return lambda counts: selection_law(counts, threshold, noise)
