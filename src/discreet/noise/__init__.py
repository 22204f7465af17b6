"""The only randomness in the system: exact integer noise from the operating system's generator.

>>> discrete_laplace(10, 5).dtype
dtype('int64')
"""

import math
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.ndarrays import Ints
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM

__all__ = ["discrete_gaussian", "discrete_laplace", "rounded_gaussian"]

_MOST = 1 << 32
_MOST_SIDES = 32


def discrete_laplace(scale: Any, size: int | tuple[int, ...]) -> Ints:
    """Two-sided geometric noise, P[k] ∝ e^(−|k|/scale), as an int64 array of that size.

    `scale` is an int, Fraction, Decimal, decimal text, or a float taken as its exact rational; 0 < scale ≤ 10¹².
    """
    return _draw(DiscreteLaplace(scale), size)


def discrete_gaussian(sigma: Any, size: int | tuple[int, ...]) -> Ints:
    """Discrete Gaussian noise, P[k] ∝ e^(−k²/2σ²), as an int64 array; priced by zCDP only."""
    return _draw(DiscreteGaussian(sigma), size)


def rounded_gaussian(sigma: Any, size: int | tuple[int, ...]) -> Ints:
    """N(0, σ²) rounded to whole numbers, P[k] = Φ((k+½)/σ) − Φ((k−½)/σ), as an int64 array."""
    return _draw(RoundedGaussian(sigma), size)


def _draw(law: DiscreteLaplace | DiscreteGaussian | RoundedGaussian, size: Any) -> Ints:
    shape = _shape(size)
    return law.draw(math.prod(shape), SYSTEM).reshape(shape)


def _shape(size: Any) -> tuple[int, ...]:
    sides = size if isinstance(size, tuple) else (size,)
    if len(sides) > _MOST_SIDES:
        raise bad("size", f"must have at most {_MOST_SIDES} sides", size, "Give an int or a short tuple of ints.")
    shape = tuple(amounts.count(side, "size", 0, _MOST) for side in sides)
    if math.prod(shape) > _MOST:
        raise bad("size", "must ask for at most 2³² numbers", size, "Draw in several calls.")
    return shape
