"""What is read off the mechanisms themselves: the scale of their noise, and the ε that they cost."""

from fractions import Fraction
from typing import Any

from discreet.bounded import Sensitivity
from discreet.mechanism.additive import laplace
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import price
from discreet.privacy.cost import Cost


def laplace_scale(sensitivity: Sensitivity, epsilon: Any) -> Fraction:
    """The scale of the noise that `laplace` really adds."""
    noise = laplace(sensitivity, epsilon).noise
    if not isinstance(noise, DiscreteLaplace):  # pragma: no cover
        raise TypeError("Laplace noise is discrete Laplace noise.")
    return noise.scale


def epsilon_of(cost: Cost) -> Fraction:
    """The smallest ε that is certified for the cost at δ = 0."""
    return price.epsilon(cost, 0).value
