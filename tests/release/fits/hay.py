"""Least squares over the tree from whole-number weights, as Hay, Rastogi, Miklau & Suciu (2010) use it."""

import numpy as np

from discreet.ndarrays import Ints
from discreet.release.leastsquares import Estimates, consistent, require_measured, shares, variances
from discreet.release.tree import Tree


def estimates(tree: Tree, noisy: Ints, weights: Ints, *, scale: int = 1) -> Estimates:
    """The least-squares table of noisy/scale and the variance of each place, in time and memory linear in the cells.

    Unbiased where the noise is, and of all such linear estimates the one of least variance in every place if the
    weights are as 1/variance (Gauss–Markov); values may be negative or broken.

    >>> from discreet.release.tree import from_edges
    >>> tree = from_edges([("x", "a"), ("x", "b")])
    >>> result = estimates(tree, np.array([[9], [2], [4]]), np.array([1, 1, 1]))
    >>> result.values.ravel().tolist(), result.variance.round(4).tolist()
    ([8.0, 3.0, 5.0], [0.6667, 0.6667, 0.6667])
    """
    require_measured(tree, noisy, weights, scale=scale)
    shared = shares(tree, weights.astype(np.float64))
    return Estimates(consistent(shared, noisy / scale), variances(shared)[:, 0])
