"""Two worlds: the law of a noisy count without you and with you, the band e^±ε between them, and the tail δ beyond it.

    Laplace    P[k] = (1 − a)/(1 + a)·a^|k − c|, a = e^−ε           never leaves the band        δ = 0
    Gaussian   N(c, σ²) rounded, σ the least that is (ε, δ)-DP      leaves it in the tail        δ > 0
    tail       Σ max(P[k] − e^ε·Q[k], 0): the least δ at that ε

The counts are 100 without you and 101 with you; the same laws as the noise that runs.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.privacy.calibrate import gaussian_sigma

WITHOUT, WITH = 100, 101
SHOWN = tuple(range(76, 126))
_FAR = 12  # widths of the noise: beyond them its mass is below 10⁻³⁰


@dataclass(frozen=True)
class Worlds:
    """Chances of every shown output in both worlds, and the mass of the second that the band does not hold."""

    epsilon: Fraction
    delta: Fraction
    noise: str  # in words
    without: tuple[float, ...]
    present: tuple[float, ...]
    tail: float

    @property
    def factor(self) -> float:
        """e^ε: by how much an output can move the odds that you are in the data."""
        return math.exp(self.epsilon)

    @property
    def band(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The least and the most that each output's chance with you may be: e^−ε and e^ε times that without you."""
        return tuple(q / self.factor for q in self.without), tuple(q * self.factor for q in self.without)

    @property
    def beyond(self) -> tuple[float, ...]:
        """How much of each output's chance with you lies above the band."""
        return tuple(max(p - high, 0.0) for p, high in zip(self.present, self.band[1], strict=True))

    @property
    def sentence(self) -> str:
        """What the picture says."""
        low, high = (f"{100 * end:.1f} %" for end in belief(0.5, self.epsilon))
        odds = (
            f"At ε = {amounts.text_of(self.epsilon)} no output is more than {self.factor:.3g} times as likely with you "
            f"as without you: a belief of 50 % that you are in the data moves to {low} at least and {high} at most"
        )
        if self.delta == 0:
            return f"{odds}."
        limit = f"at most δ = {amounts.text_of(self.delta)}"
        return f"{odds}, but for the tail: there chances exceed the band, by {self.tail:.2g} in all, {limit}."

    def rows(self, first: int = 94, last: int = 107) -> tuple[tuple[str, ...], ...]:
        """The table twin: output, chance without you, with you, and their ratio."""
        chances = zip(SHOWN, self.without, self.present, strict=True)
        return tuple(
            (str(k), f"{100 * q:.2f} %", f"{100 * p:.2f} %", f"{p / q:.3g}" if q > 0 else "∞")
            for k, q, p in chances
            if first <= k <= last
        )


HEADER = ("output", "without you", "with you", "with / without")


def two_worlds(epsilon: Any, delta: Any = 0) -> Worlds:
    """Both laws at (ε, δ): Laplace's where δ is 0, else the Gaussian's.

    >>> worlds = two_worlds(1)
    >>> max(p / q for p, q in zip(worlds.present, worlds.without)) <= worlds.factor * (1 + 1e-9)
    True
    """
    loss, chance = amounts.epsilon(epsilon), amounts.delta(delta, ceiling=Fraction(1, 2))
    if chance == 0:
        scale = f"Laplace noise of scale {float(1 / loss):.3g}"
        return Worlds(loss, chance, scale, _laplace(loss, WITHOUT), _laplace(loss, WITH), 0.0)
    sigma = float(gaussian_sigma(loss, chance))
    law = f"Gaussian noise of σ = {sigma:.3g}"
    without, present = (tuple(_normal(sigma, k - centre) for k in SHOWN) for centre in (WITHOUT, WITH))
    return Worlds(loss, chance, law, without, present, _tail(sigma, math.exp(loss)))


def belief(prior: float, epsilon: Fraction) -> tuple[float, float]:
    """Where a belief p can go: p/(p + (1 − p)e^ε) and p/(p + (1 − p)e^−ε), as `odds` bounds it.

    >>> [round(end, 4) for end in belief(0.4, Fraction(1, 10))]
    [0.3763, 0.4242]
    """
    against = (1 - prior) / prior
    return 1 / (1 + against * math.exp(epsilon)), 1 / (1 + against * math.exp(-epsilon))


def _laplace(epsilon: Fraction, centre: int) -> tuple[float, ...]:
    a = math.exp(-epsilon)
    return tuple((1 - a) / (1 + a) * a ** abs(k - centre) for k in SHOWN)


def _normal(sigma: float, k: int) -> float:
    """P[K = k] of rounded N(0, σ²), from the tail that cancels least."""
    width, size = sigma * math.sqrt(2), abs(k)
    return (math.erfc((size - 0.5) / width) - math.erfc((size + 0.5) / width)) / 2


def _tail(sigma: float, factor: float) -> float:
    """Σ max(P[k] − e^ε·Q[k], 0) over all outputs that have any mass."""
    reach = math.ceil(_FAR * sigma) + 2
    return math.fsum(max(_normal(sigma, k - 1) - factor * _normal(sigma, k), 0.0) for k in range(-reach, reach + 1))
