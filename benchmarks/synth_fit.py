"""The model that fits noisy marginals best: mirror descent on the marginals of a junction tree.

NumPy only, for any environment.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.synth_model import Array, Model, expand, marginal, shares_of
from benchmarks.synth_tree import Clique, Tree, cells, tree_of

Potentials = Mapping[Clique, Array]
_GROWTH, _TRIES, _WINDOW = 1.5, 25, 10


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy counts of a marginal; the weight of a cell is one over the variance of its noise."""

    clique: Clique
    counts: Array
    weights: Array

    def joined(self, other: "Measurement") -> "Measurement":
        """Two measurements of the same marginal as one, by their weights."""
        weights = self.weights + other.weights
        counts = (self.counts * self.weights + other.counts * other.weights) / weights
        return Measurement(self.clique, counts, weights)


@dataclass(frozen=True, eq=False)
class Fit:
    """A model, the potentials that give it, and what its marginals miss of the measurements."""

    model: Model
    potentials: Potentials
    loss: float
    steps: int


@dataclass(frozen=True)
class _Route:
    """From which table the marginal of a measured clique is summed: a clique of the tree or a wider measured one."""

    clique: Clique
    source: Clique
    home: int  # the clique of the tree, or −1


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is fitted to what, and the tree that it takes."""

    sizes: tuple[int, ...]
    measurements: Mapping[Clique, Measurement]
    tree: Tree
    routes: Sequence[_Route]
    total: float


@dataclass(frozen=True, eq=False)
class _Point:
    """Potentials with the marginals, the loss and its slope that they give."""

    theta: Potentials
    shares: tuple[Array, ...]
    marginals: Mapping[Clique, Array]
    loss: float
    slope: Mapping[Clique, Array]


def measurement(clique: Clique, counts: Array, sigma: float) -> Measurement:
    """Counts with Gaussian noise of the same σ in each cell."""
    return Measurement(clique, counts, np.full(counts.shape, sigma**-2))


def merge(measurements: Iterable[Measurement]) -> dict[Clique, Measurement]:
    """One measurement for each marginal."""
    merged: dict[Clique, Measurement] = {}
    for each in measurements:
        merged[each.clique] = merged[each.clique].joined(each) if each.clique in merged else each
    return merged


def total_of(measurements: Iterable[Measurement]) -> float:
    """The number of rows by the noisy totals of all marginals, each weighted by one over its variance; at least 1."""
    pairs = [(float(each.counts.sum()), 1 / float((1 / each.weights).sum())) for each in measurements]
    return max(1.0, math.fsum(count * weight for count, weight in pairs) / math.fsum(weight for _, weight in pairs))


def fit_of(
    sizes: tuple[int, ...],
    measurements: Mapping[Clique, Measurement],
    *,
    steps: int,
    start: Potentials | None = None,
    tolerance: float = 0.0,
) -> Fit:
    """The p of largest entropy that minimises L(p) = ½ Σ w·(N·p_c − y_c)² over the measured cliques c, nearly.

    θ ← θ − a·∇L(p), p ∝ exp Σ θ_c (McKenna, Sheldon & Miklau 2019), with a from a line search: a step counts if L
    falls by at least half of ⟨∇L(p), p − p'⟩.  It ends after so many steps, or when the last ten took
    less than the tolerance off L, as a share of it.
    """
    tree = tree_of(sizes, measurements)
    total = total_of(measurements.values())
    problem = _Problem(sizes, measurements, tree, _routes(tree, measurements, sizes), total)
    known = {} if start is None else start
    zeros = {clique: np.zeros([sizes[column] for column in clique]) for clique in measurements}
    point = _point_of(problem, {clique: known.get(clique, zero) for clique, zero in zeros.items()})
    size = min(float(1 / each.weights.max()) for each in measurements.values()) / total**2
    losses = [point.loss]
    for _ in range(steps):
        step, size = _step(problem, point, size)
        if step is None:
            break
        point, size = step, size * _GROWTH
        losses.append(point.loss)
        if len(losses) > _WINDOW and losses[-1 - _WINDOW] - point.loss <= tolerance * point.loss:
            break
    return Fit(Model(sizes, tree, point.shares, total), point.theta, point.loss, len(losses) - 1)


def _step(problem: _Problem, point: _Point, size: float) -> tuple[_Point | None, float]:
    """The next point and its step; no point if every step that was tried is too long, down to the last digits."""
    for _ in range(_TRIES):
        step = _point_of(problem, {clique: point.theta[clique] - size * point.slope[clique] for clique in point.theta})
        expected = math.fsum(
            float(np.vdot(point.slope[clique], point.marginals[clique] - step.marginals[clique]))
            for clique in point.theta
        )
        if point.loss - step.loss >= 0.5 * expected:
            return step, size
        size /= 2
    return None, size


def _point_of(problem: _Problem, theta: Potentials) -> _Point:
    shares = shares_of(problem.tree, _potentials(problem, theta))
    marginals = _marginals(problem.routes, shares)
    return _Point(theta, shares, marginals, *_loss(problem.measurements, marginals, problem.total))


def _routes(tree: Tree, cliques: Iterable[Clique], sizes: tuple[int, ...]) -> list[_Route]:
    """Wide marginals first, each from the smallest table that has its columns."""
    routes: list[_Route] = []
    for clique in sorted(cliques, key=lambda each: (-len(each), each)):
        wider = [route.clique for route in routes if set(clique) < set(route.clique)]
        home = tree.home(clique)
        if wider:
            routes.append(_Route(clique, min(wider, key=lambda each: cells(sizes, each)), -1))
        else:
            routes.append(_Route(clique, tree.cliques[home], home))
    return routes


def _potentials(problem: _Problem, theta: Potentials) -> list[Array]:
    """Σ θ_c of the measured cliques c in each clique of the tree."""
    sums = dict(theta)
    tables: list[Array | None] = [None] * len(problem.tree.cliques)
    for route in reversed(problem.routes):
        wide = expand(sums[route.clique], route.clique, route.source)
        if route.home < 0:
            sums[route.source] = sums[route.source] + wide
        else:
            before = tables[route.home]
            tables[route.home] = wide if before is None else before + wide
    return [
        np.broadcast_to(0.0 if table is None else table, [problem.sizes[column] for column in clique])
        for table, clique in zip(tables, problem.tree.cliques, strict=True)
    ]


def _marginals(routes: Sequence[_Route], shares: tuple[Array, ...]) -> dict[Clique, Array]:
    """The model's marginals of the measured cliques."""
    tables: dict[Clique, Array] = {}
    for route in routes:
        source = tables[route.source] if route.home < 0 else shares[route.home]
        tables[route.clique] = marginal(source, route.source, route.clique)
    return tables


def _loss(
    measurements: Mapping[Clique, Measurement], marginals: Mapping[Clique, Array], total: float
) -> tuple[float, dict[Clique, Array]]:
    """½ Σ w·(N·p − y)² and its slope N·w·(N·p − y)."""
    loss, slope = 0.0, {}
    for clique, each in measurements.items():
        gap = total * marginals[clique] - each.counts
        slope[clique] = total * each.weights * gap
        loss += 0.5 * float(np.vdot(slope[clique], gap)) / total
    return loss, slope
