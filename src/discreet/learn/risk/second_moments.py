"""XᵀX and Xᵀy as the kernel `gram` releases them, and weights, damped in directions with more noise than signal.

    w = argmin ‖Gw − b‖² + (r/τ)²‖w‖²       r² = (5s/7)²·Kτ² + s_b²

G and b are the noisy moments, s and s_b the noise of a diagonal moment of G and of b, τ the spread of a weight.  In a
direction where G has the eigenvalue h this is h/(h² + (r/τ)²) times b: what is best where weights have that spread and
Gw − b has noise of r.  No eigenvalue makes it large, not even one that noise moved to 0 or below.
"""

from math import sqrt

import numpy as np

from discreet.kernel.encode import UNIT
from discreet.kernel.gram import BESIDE, DIAGONAL
from discreet.ndarrays import Floats, Ints


def moments_of(released: Ints, width: int, balance: int) -> tuple[Floats, Floats]:
    """XᵀX and Xᵀy in units, from what was released."""
    triangle = np.triu_indices(width)
    gram = np.zeros((width, width))
    gram[triangle] = released[: len(triangle[0])]
    gram = gram / np.where(np.eye(width) > 0, DIAGONAL, BESIDE)
    gram = (gram + np.triu(gram, 1).T) / UNIT**2
    return gram, released[len(triangle[0]) :] / (balance * UNIT**2)


def balance_of(norm: float) -> int:
    """m: it makes the noise of Xᵀy that of a diagonal moment, over the norm."""
    return max(1, round(DIAGONAL * norm))


def filtered_weights(gram: Floats, answers: Floats, noise: tuple[float, float], spread: float, features: int) -> Floats:
    """The weights; `noise` is that of a diagonal moment and that of an answer's."""
    beside = noise[0] * DIAGONAL / BESIDE
    residual = sqrt(beside**2 * features * spread**2 + noise[1] ** 2)
    values, vectors = np.linalg.eigh(gram)
    weights: Floats = vectors @ ((vectors.T @ answers) * values / (values**2 + (residual / spread) ** 2))
    return weights
