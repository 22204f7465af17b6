"""Many small nets of one design, each trained on a random half of the same rows, all as one batched array.

    h = tanh(W₁(x, 1))        z = w₂·(h, 1)        loss ln(1 + e^(−yz)), y = ±1
    ∂loss/∂w₂ = s·(h, 1)      ∂loss/∂W₁ = t (x, 1)ᵀ      s = −y/(1 + e^(yz)), t = s·w₂·(1 − h²)

So the gradient of one row has the norm √(s²(‖h‖² + 1) + ‖t‖²(‖x‖² + 1)), known without the gradient itself: rows are
clipped one by one at the price of a sum.  Private steps take all rows, and get the noise of `deep`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ndarrays import Bools, Floats
from discreet.noise.public import Generator

_HIDDEN, _STEPS, _RATE, _START = 32, 200, 0.03, 1.0
_DECAYS, _TINY = (0.9, 0.99), 1e-8  # of Adam
_PRIVATE_STEPS, _PRIVATE_RATE, _CLIP = 30, 0.02, Fraction(1)
_MARGIN = 1 - 2.0**-10  # of the clip, for what rounding adds
DELTA = "1e-6"

Sum = Callable[["Nets", Floats], Floats]  # nets and weights → a sum of gradients for each net


@dataclass(frozen=True, eq=False)
class Nets:
    """The rows with a last column of ones, their classes ±1, and which rows each net is trained on."""

    rows: Floats
    signs: Floats
    members: Bools  # nets × rows

    @property
    def count(self) -> int:
        """How many nets there are."""
        return len(self.members)

    @property
    def width(self) -> int:
        """How many weights each net has."""
        return int(self.rows.shape[1]) * _HIDDEN + _HIDDEN + 1

    def parts(self, weights: Floats) -> tuple[Floats, Floats]:
        """W₁ as nets × hidden × columns, and w₂ as nets × (hidden + 1)."""
        first = self.rows.shape[1] * _HIDDEN
        return weights[:, :first].reshape(self.count, _HIDDEN, -1), weights[:, first:]

    def margins(self, weights: Floats) -> Floats:
        """y·z of every row under every net: the logit of the chance of its own class."""
        (inner, outer), given = self.parts(weights), self.rows.astype(weights.dtype)
        margins = np.empty((self.count, len(given)))
        for net in range(self.count):
            hidden = np.tanh(given @ inner[net].T)
            margins[net] = self.signs * (hidden @ outer[net, :-1] + outer[net, -1])
        return margins


def members_of(nets: int, rows: int, chance: Generator) -> Bools:
    """Pairs of complements: the first of a pair has each row by a fair coin, the second has the others."""
    first = chance.random((nets // 2, rows)) < 0.5
    return np.stack([first, ~first], axis=1).reshape(nets // 2 * 2, rows)


def gradients(nets: Nets, weights: Floats, clip: float | None) -> Floats:
    """The sum over each net's own rows of their gradients, each shortened to the clip."""
    inner, outer = nets.parts(weights)
    sums = np.empty_like(weights)
    first = inner[0].size
    for net in range(nets.count):
        own = nets.members[net]
        given, signs = nets.rows[own].astype(weights.dtype), nets.signs[own].astype(weights.dtype)
        hidden = np.tanh(given @ inner[net].T)
        scores = signs * (hidden @ outer[net, :-1] + outer[net, -1])
        slopes = -signs / (1 + np.exp(np.minimum(scores, 80)))
        back = slopes[:, None] * outer[net, :-1] * (1 - hidden**2)
        if clip is not None:
            square = slopes**2 * ((hidden**2).sum(1) + 1) + (back**2).sum(1) * (given**2).sum(1)
            factors = np.minimum(1.0, clip * _MARGIN / np.sqrt(np.maximum(square, 1e-300)))
            slopes, back = slopes * factors, back * factors[:, None]
        sums[net, :first] = (back.T @ given).ravel()
        sums[net, first:-1] = slopes @ hidden
        sums[net, -1] = slopes.sum()
    return sums


def train(nets: Nets, chance: Generator, *, steps: int, rate: float, summed: Sum, kind: type) -> Floats:
    """The weights of all nets after so many steps of Adam on sums over their rows, from weights drawn by chance."""
    size = nets.rows.shape[1]
    start = chance.normal(size=(nets.count, nets.width)) * _START / np.sqrt(_HIDDEN)
    start[:, : size * _HIDDEN] *= np.sqrt(_HIDDEN / size)
    weights: Floats = start.astype(kind)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        gradient = summed(nets, weights) / (len(nets.rows) / 2)
        mean += (1 - _DECAYS[0]) * (gradient - mean)
        square += (1 - _DECAYS[1]) * (gradient**2 - square)
        scale = np.sqrt(square / (1 - _DECAYS[1] ** step)) + _TINY
        weights -= rate / (1 - _DECAYS[0] ** step) * mean / scale
    return weights


def trained_plainly(nets: Nets, chance: Generator) -> Floats:
    """Nets that learn their rows by heart."""

    def exact(own: Nets, weights: Floats) -> Floats:
        return gradients(own, weights, None)

    return train(nets, chance, steps=_STEPS, rate=_RATE, summed=exact, kind=np.float32)


def trained_privately(nets: Nets, chance: Generator, epsilon: str) -> Floats:
    """Nets by noisy gradients of all their rows: σ by the plan, noise by the lattice of private training."""
    from discreet import deep
    from discreet.deep.training.noise import Lattice, LatticeNoise
    from discreet.noise.source import SYSTEM

    plan = deep.plan(rows=len(nets.rows), rate=1, steps=_PRIVATE_STEPS, epsilon=epsilon, delta=DELTA)
    noise = LatticeNoise(Lattice(nets.width, _CLIP, plan.sigma), SYSTEM)

    def noisy(own: Nets, weights: Floats) -> Floats:
        sums = gradients(own, weights, float(_CLIP))
        for total in sums:
            noise.add(total)
        return sums

    return train(nets, chance, steps=_PRIVATE_STEPS, rate=_PRIVATE_RATE, summed=noisy, kind=np.float64)
