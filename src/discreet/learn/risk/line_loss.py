"""Losses of one line z = x·w, by slope and curvature, as the minimisers of whole risks need them.

    logistic   ln(1 + e^(−yz)), y = ± 1        slope −y·a, a = σ(−yz)               curvature a(1 − a) ≤ ¼
    hinge      smoothed over a width of 1      slope −y·clamp(1.5 − yz, 0, 1)       curvature 0 or 1
    huber      squared, then straight          slope clamp(z − y, −1, 1)            curvature 0 or 1

Slopes are clipped to `steepest`; the loss is then convex still, with a Lipschitz slope, and straight where it was
clipped.  For each row of logistic and hinge the slope has one sign, whatever the weights are; huber's has not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.ndarrays import Floats

CURVATURE = {"logistic": Fraction(1, 4), "hinge": Fraction(1), "huber": Fraction(1)}
ONE_SIGNED = ("logistic", "hinge")


@dataclass(frozen=True)
class LineLoss:
    """A loss with the bound that its slope is clipped to, at most 1."""

    name: str
    steepest: Fraction = Fraction(1)

    @property
    def is_one_signed(self) -> bool:
        """Whether the slope of a row has one sign at all weights."""
        return self.name in ONE_SIGNED

    @property
    def curvature(self) -> Fraction:
        """The largest curvature."""
        return CURVATURE[self.name]

    def slopes(self, lines: Floats, answers: Floats) -> tuple[Floats, Floats]:
        """Slope and curvature of each row; answers are ± 1, or the numbers of huber."""
        return _SLOPES[self.name](lines, answers, float(self.steepest))


def line_loss(name: Any, steepest: Any = 1) -> LineLoss:
    """The loss of that name; refused where there is none."""
    if name not in CURVATURE:
        raise bad("loss", f"must be one of {', '.join(CURVATURE)}", name, "Give one of them.")
    bound = amounts.positive(steepest, "slope")
    if not Fraction(1, 256) <= bound <= 1:
        raise bad("slope", "must be at least 1/256 and at most 1", steepest, "Leave it out.")
    return LineLoss(name, bound)


def _logistic(lines: Floats, answers: Floats, steepest: float) -> tuple[Floats, Floats]:
    power = np.exp(-np.abs(lines))
    size = np.where(lines * answers >= 0, power, 1.0) / (1.0 + power)
    return -answers * np.minimum(size, steepest), np.where(size < steepest, size * (1.0 - size), 0.0)


def _hinge(lines: Floats, answers: Floats, steepest: float) -> tuple[Floats, Floats]:
    size = 1.5 - answers * lines
    return -answers * np.clip(size, 0.0, steepest), ((size > 0) & (size < steepest)).astype(np.float64)


def _huber(lines: Floats, answers: Floats, steepest: float) -> tuple[Floats, Floats]:
    gap = lines - answers
    return np.clip(gap, -steepest, steepest), (np.abs(gap) < steepest).astype(np.float64)


_SLOPES: dict[str, Callable[[Floats, Floats, float], tuple[Floats, Floats]]] = {
    "logistic": _logistic,
    "hinge": _hinge,
    "huber": _huber,
}
