"""Marginals of a place's cells brought together: the best unbiased cells from several noisy views.

At every place the same views M_1 … M_k of the S cells are measured, M_a with noise of variance ∝ 1/v_a.  Least squares,

    x̂ = C·Σ_a v_a·M_aᵀ·y_a,      C = (Σ_a v_a·M_aᵀ·M_a)⁻¹,

has covariance C times what is common to the place.  Over a tree whose levels weigh u_l, a view then weighs u_l·v_a, and
least squares over cells and places at once is the one after the other: the system is a Kronecker product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ndarrays import Floats, Ints
from discreet.release.measure import Marginal


@dataclass(frozen=True, eq=False)
class Views:
    """How views become cells (`weights` of each measured number in each cell) and their covariance."""

    weights: Floats  # (numbers, cells)
    covariance: Floats  # (cells, cells)

    def cells(self, noisy: Ints) -> Floats:
        """The cells of each row of measured numbers."""
        return np.asarray(noisy @ self.weights, dtype=np.float64)

    def variance(self, view: Marginal) -> Floats:
        """The variance of each number of a view of the estimated cells."""
        summing = matrix(view)
        return np.asarray(np.einsum("kc,cd,kd->k", summing, self.covariance, summing), dtype=np.float64)


def views(marginals: Sequence[Marginal], weights: Sequence[float]) -> Views:
    """The least-squares combination of views with these weights ∝ 1/variance.

    The last view must be all cells, so that the system can always be solved.
    """
    stacked = np.concatenate([matrix(one) for one in marginals])
    weighing = np.concatenate([np.full(one.size, weight) for one, weight in zip(marginals, weights, strict=True)])
    covariance = np.linalg.inv(stacked.T @ (weighing[:, None] * stacked))
    return Views(weighing[:, None] * stacked @ covariance, covariance)


def matrix(view: Marginal) -> Floats:
    """M with M[k, c] = 1 where cell c is added to number k."""
    made = np.zeros((view.size, len(view.place)))
    made[view.place, np.arange(len(view.place))] = 1
    return made
