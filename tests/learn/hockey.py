"""δ of objective perturbation in one dimension, by quadrature over exact densities.

Panels are split at the kinks of slopes and at the roots of p' − e^ε·p: without that, plain quadrature finds violations
that are not there.
"""

import numpy as np
from scipy.optimize import brentq

from learn.minima import slopes

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)


def kinks(loss, steepest, x, y):
    """Where the slope of a row has a kink."""
    if loss == "hinge":
        return [y * 1.5 / x, y * (1.5 - steepest) / x]
    if loss == "huber":
        return [(y - steepest) / x, (y + steepest) / x]
    return [-y * np.log(steepest / (1 - steepest)) / x] if steepest < 1 else []


def log_density(rows, loss, steepest, ridge, sigma, point):
    """ln of the density of the released weight."""
    line, bend = ridge * point, np.full_like(point, ridge)
    for x, y in rows:
        slope, curvature = slopes(loss, x * point, y, steepest)
        line, bend = line + slope * x, bend + curvature * x * x
    return -(line**2) / (2 * sigma**2) + np.log(bend) - np.log(sigma * np.sqrt(2 * np.pi))


def divergences(first, second, loss, steepest, ridge, sigma, epsilon, panels=300):
    """H_ε of the two tables' laws, both ways."""
    everything = [*first, *second]
    reach = (len(everything) + 2 + 14 * sigma) / ridge
    ends = np.concatenate([np.linspace(-end, end, panels * 2 + 1) for end in (reach, min(reach, 60.0))])
    corners = [corner for x, y in everything if abs(x) > 1e-9 for corner in kinks(loss, steepest, x, y)]
    edges = np.unique(np.concatenate([ends, [corner for corner in corners if abs(corner) < reach]]))

    def logs(point):
        return [log_density(rows, loss, steepest, ridge, sigma, point) for rows in (first, second)]

    return [_divergence(logs, edges, epsilon, order) for order in ((0, 1), (1, 0))]


def _divergence(logs, edges, epsilon, order):
    def excess(point):
        both = logs(np.atleast_1d(np.asarray(point, dtype=float)))
        return both[order[0]] - both[order[1]] - epsilon

    tiny = 1e-13 * np.maximum(1, np.abs(edges))
    left, right = excess(edges[:-1] + tiny[:-1]), excess(edges[1:] - tiny[1:])
    roots = [
        brentq(lambda point: excess(point)[0], edges[i] + tiny[i], edges[i + 1] - tiny[i + 1], xtol=1e-15)
        for i in np.flatnonzero(left * right < 0)
    ]
    cuts = np.unique(np.concatenate([edges, roots]))
    half = np.diff(cuts) / 2
    points = ((cuts[1:] + cuts[:-1]) / 2)[:, None] + half[:, None] * NODES
    both = [density.reshape(points.shape) for density in logs(points.ravel())]
    gain = np.maximum(0, np.exp(both[order[0]]) - np.exp(epsilon + both[order[1]]))
    return float((gain * half[:, None] * WEIGHTS).sum())
