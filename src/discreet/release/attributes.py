"""Combine several noisy views of a place's cells into the best unbiased cells.

At every place the same views M_1 … M_k of the S cells are measured, M_a with noise of variance ∝ 1/v_a.  Least squares,

    x̂ = C·Σ_a v_a·M_aᵀ·y_a,      C = (Σ_a v_a·M_aᵀ·M_a)⁻¹,

has covariance C times the variance of the place.  Over a tree whose levels weigh u_l, a view weighs u_l·v_a, and
least squares over cells and places is the one after the other, because the system is a Kronecker product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ndarrays import Floats, Ints
from discreet.release.measure import Marginal


@dataclass(frozen=True, eq=False)
class Views:
    """The `weights` of each measured number in each cell, and the covariance of the cells."""

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
    stacked = np.concatenate([matrix(marginal) for marginal in marginals])
    weighing = np.concatenate(
        [np.full(marginal.size, weight) for marginal, weight in zip(marginals, weights, strict=True)]
    )
    covariance = np.linalg.inv(stacked.T @ (weighing[:, None] * stacked))
    return Views(weighing[:, None] * stacked @ covariance, covariance)


def matrix(view: Marginal) -> Floats:
    """M with M[k, c] = 1 where cell c is added to number k."""
    summing = np.zeros((view.size, len(view.index)))
    summing[view.index, np.arange(len(view.index))] = 1
    return summing
