"""Planted bugs of randomness: floats, seeds, clocks, forks and noise used twice.

`deepcopy` stands in for a fork: both workers have the same state, without the processes.
"""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.bounds import Odds
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Difference, LowestBit, Outputs, Values
from discreet.audit.mutants.planted import Drawn, Planted
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import generator
from discreet.noise.source import Source

_FEW = 200  # runs of what is seen in every single one
_CERTAIN = (1.0, 0.0)
_A = 0.36787944117144233  # e⁻¹: geometric noise of scale 1


def bugs() -> Iterator[Planted]:
    """All bugs of this module."""
    epsilon_1, epsilon_2 = Odds(Fraction(1)), Odds(Fraction(2))
    wrong = "Noise is added in floats: around 0 its low digits survive, around 1 they are rounded away."
    # At 1 every sum is a multiple of 2⁻⁵³.  At 0 noise below ½ mostly is not: 0.27 if low digits of ln u are even.
    digits = Event(LowestBit(0), "≤", -54)
    yield Drawn("float-laplace", wrong, epsilon_1, (0.0, 1.0), _float_laplace, digits, (0.2, 0.0), 2_000)
    wrong = "The generator is seeded, so the noise is known."
    recomputed = Event(Coordinate(0), "=", 7 + int(_geometric(generator(0), 1)[0]))
    yield Drawn("seeded-generator", wrong, epsilon_1, (7, 8), _seeded_draw, recomputed, _CERTAIN, _FEW)
    wrong = "The seed is the second of the answer, which everyone can try."
    yield Drawn("seed-from-the-clock", wrong, epsilon_1, (7, 8), _clock_draw, Event(Undone(), "=", 7), _CERTAIN, _FEW)
    same = Event(Difference(0, 1), "=", 0)
    wrong = "Two workers forked from one process hold the same NumPy generator and add the same noise."
    yield Drawn("fork-repeats-noise", wrong, epsilon_2, ((5, 5), (5, 6)), _forked_draw, same, _CERTAIN, _FEW)
    wrong = "One draw of noise is added to every cell."
    yield Drawn("shared-noise", wrong, epsilon_2, ((5, 5), (5, 6)), _shared_draw, same, _CERTAIN, _FEW)


@dataclass(frozen=True)
class Undone:
    """The answer minus the noise that its second's seed gives."""

    def of(self, outputs: Outputs) -> Values:
        noise = [int(_geometric(generator(int(second)), 1)[0]) for second in outputs[:, 0]]
        undone: Values = outputs[:, 1] - np.array(noise)
        return undone

    def __str__(self) -> str:
        return "y minus the noise of its second"


def _float_laplace(exact: float, n: int, source: Source) -> Outputs:
    """The textbook's −b·ln U with a random sign, b = 1."""
    words = source.words(n)
    u = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    noisy: Outputs = exact + np.where(words & np.uint64(1), 1.0, -1.0) * np.log(u)
    return noisy


def _seeded_draw(exact: int, n: int, source: Source) -> Outputs:
    return np.array([exact + int(_geometric(generator(0), 1)[0]) for _ in range(n)])


def _clock_draw(exact: int, n: int, source: Source) -> Outputs:
    """(second, answer) of one answer a second from now on."""
    now = int(time.time())
    return np.array([(now + i, exact + int(_geometric(generator(now + i), 1)[0])) for i in range(n)])


def _forked_draw(exact: tuple[int, int], n: int, source: Source) -> Outputs:
    parent, runs = generator(), []
    for _ in range(n):
        parent.integers(2)  # the parent lives on between forks
        first, second = deepcopy(parent), deepcopy(parent)
        runs.append((exact[0] + int(_geometric(first, 1)[0]), exact[1] + int(_geometric(second, 1)[0])))
    return np.array(runs)


def _shared_draw(exact: tuple[int, int], n: int, source: Source) -> Outputs:
    noise = DiscreteLaplace(Fraction(1)).draw(n, source)
    return np.array(exact) + noise[:, None]


def _geometric(chance: Any, n: int) -> Ints:
    """Two-sided geometric noise of scale 1, from a generator that must not be used for it."""
    noise: Ints = chance.geometric(1 - _A, n) - chance.geometric(1 - _A, n)
    return noise
