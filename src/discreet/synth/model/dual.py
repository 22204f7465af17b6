"""Fit the maximum-entropy distribution around a base to noisy marginals, by its dual.

    minimise over θ     N·ln Z(θ) − Σ_m θ_m·y_m + ½·τ·Σ_m σ_m²·‖θ_m‖²,      p_θ(x) ∝ Π_j b_j(x_j)·e^(Σ_m θ_m(x_m))

y_m are noisy counts of marginal m with standard deviation σ_m, b_j public or paid base marginals, N the total.  At the
minimum N·p_θ = y − τσ²θ: a marginal is met up to a slack in proportion to its variance (Dudík, Phillips & Schapire 2007
for entropy with slack).  τ = 1 would be the posterior mode under a prior that shrinks far too much; τ is small.

The minimum is looked for by L-BFGS with a fixed number of evaluations: it is post-processing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from discreet.ndarrays import Floats
from discreet.synth.model.belief import Beliefs
from discreet.synth.model.junction import Junction

SLACK = 0.02
EVALUATIONS = 80
_IMPOSSIBLE = -1e6  # its exponential is exactly 0
_LEAST_DEVIATION = 0.5
_LEAST_BASE = 1e-12  # so that a measured cell can still be met where its column was rounded to 0


@dataclass(frozen=True, eq=False)
class Target:
    """A noisy table of counts over some columns, in increasing order, and the standard deviation of each count."""

    columns: tuple[int, ...]
    counts: Floats
    deviation: Floats | float


@dataclass(frozen=True, eq=False)
class Fitted:
    """A tree, its logarithms for each clique, and the marginals that follow."""

    tree: Junction
    potentials: tuple[Floats, ...]
    beliefs: tuple[Floats, ...]


def fit(
    tree: Junction,
    base: Sequence[Floats],
    targets: Sequence[Target],
    total: float,
    *,
    forbidden: Sequence[tuple[tuple[int, ...], Any]] = (),
    given: Sequence[tuple[tuple[int, ...], Floats]] = (),
    evaluations: int = EVALUATIONS,
    progress: Callable[[float], None] | None = None,
) -> Fitted:
    """The distribution over the tree's columns; `forbidden` has masks over some columns, of cells that cannot occur.

    `given` has chances over some columns, in increasing order, that are part of the base; `progress` gets the share of
    evaluations that are done.
    """
    from scipy.optimize import minimize

    beliefs = Beliefs(tree)
    roots = _base_potentials(tree, base, forbidden, given)
    places = [_place(tree, target) for target in targets]
    ends = np.cumsum([0, *(target.counts.size for target in targets)])
    observed = np.concatenate([target.counts.ravel() for target in targets]) if targets else np.zeros(0)
    variance = np.concatenate([_variance(target) for target in targets]) if targets else np.zeros(0)

    evaluated = count()

    def potentials_of(duals: Floats) -> list[Floats]:
        tables = [table.copy() for table in roots]
        for (index, shape, _), begin, end in zip(places, ends, ends[1:], strict=False):
            tables[index] += duals[begin:end].reshape(shape)
        return tables

    def value_and_slope(scaled: Floats) -> tuple[float, Floats]:
        if progress is not None:
            progress(min(next(evaluated) / evaluations, 1.0))
        duals = scaled * scale
        marginals, log_sum = beliefs.of(potentials_of(duals))
        expected = np.concatenate([marginals[index].sum(axis=axes).ravel() for index, _, axes in places])
        value = total * log_sum - float(duals @ observed) + 0.5 * SLACK * float(variance @ (duals * duals))
        return value, (total * expected - observed + SLACK * variance * duals) * scale

    duals = np.zeros(len(observed))
    if targets:
        # A dual's curvature is about N·p + τσ²; in units of its root the problem is well conditioned.
        scale = 1 / np.sqrt(np.maximum(observed, 0) + SLACK * variance + 1)
        options = {"maxfun": evaluations, "maxiter": evaluations, "maxcor": 12}
        start: Any = np.zeros(len(observed))
        result: Any = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
        duals = np.asarray(result.x) * scale
    tables = potentials_of(duals)
    marginals, _ = beliefs.of(tables)
    return Fitted(tree, tuple(tables), tuple(marginals))


def _base_potentials(
    tree: Junction,
    base: Sequence[Floats],
    forbidden: Sequence[tuple[tuple[int, ...], Any]],
    given: Sequence[tuple[tuple[int, ...], Floats]],
) -> list[Floats]:
    """The logarithms of the base, each factor in one clique; forbidden cells get −∞'s stand-in."""
    tables = [np.zeros(tuple(tree.sizes[column] for column in clique)) for clique in tree.cliques]
    for column, shares in enumerate(base):
        index = tree.home((column,))
        logs = np.log(np.maximum(shares, _LEAST_BASE))
        tables[index] += logs.reshape(_shape(tree, tree.cliques[index], (column,)))
    for columns, chances in given:
        index = tree.home(columns)
        logs = np.log(np.maximum(chances, _LEAST_BASE))
        tables[index] += logs.reshape(_shape(tree, tree.cliques[index], columns))
    for columns, mask in forbidden:
        index = tree.home(columns)
        shape = _shape(tree, tree.cliques[index], columns)
        tables[index] += np.where(mask, _IMPOSSIBLE, 0.0).reshape(shape)
    return tables


def _place(tree: Junction, target: Target) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The clique of a target, the shape in which it is added there, and the axes that are summed out."""
    index = tree.home(target.columns)
    clique = tree.cliques[index]
    axes = tuple(axis for axis, column in enumerate(clique) if column not in target.columns)
    return index, _shape(tree, clique, target.columns), axes


def _shape(tree: Junction, clique: Sequence[int], columns: Sequence[int]) -> tuple[int, ...]:
    return tuple(tree.sizes[column] if column in columns else 1 for column in clique)


def _variance(target: Target) -> Floats:
    """σ² of each count, at least that of `_LEAST_DEVIATION`: tables that contradict each other by less would need duals
    that no number of evaluations reaches, and rows are whole.
    """
    deviation = np.maximum(target.deviation, _LEAST_DEVIATION)
    return np.broadcast_to(np.square(deviation), target.counts.shape).ravel().astype(np.float64)
