"""AIM as published: in each round the worst marginal is chosen with noise, measured, and all is fitted anew.

McKenna, Mullins, Sheldon & Miklau 2022, "AIM: An Adaptive and Iterative Mechanism for Differentially Private
Synthetic Data", Algorithms 2–4.  Written from the paper; NumPy only, for any environment.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.synth_fit import Fit, Measurement, fit_of, measurement, merge
from benchmarks.synth_model import Array, Codes, Marginals, rows_of
from benchmarks.synth_mst import choice, counts_of
from benchmarks.synth_price import DELTA, rho_of
from benchmarks.synth_tree import Clique, cells, links_of, tree_cells

STEPS = 1000
_TOLERANCE = 1e-3
_LAST_TOLERANCE = 1e-5
_ROUNDS = 16  # the first guess of the number of rounds, for each column
_NOISE_SHARE = 0.9  # of ρ; the rest is for choices
_HALF_NORMAL = math.sqrt(2 / math.pi)  # E|Z| of a normal Z


@dataclass(frozen=True)
class Limits:
    """What AIM may look at and keep: the largest marginal of the workload, its columns, and cells of the model."""

    columns: int = 3
    marginal_cells: int = 10_000
    model_cells: int = 2**20  # 8 MiB of doubles


LIMITS = Limits()


@dataclass(eq=False)
class _State:
    """What has been measured, the noise and the choice of the next round, and what has been spent of ρ."""

    sigma: float
    epsilon: float
    spent: float = 0.0
    measurements: dict[Clique, Measurement] = field(default_factory=dict)

    @property
    def next_cost(self) -> float:
        """ρ of one round: a choice and a Gaussian measurement."""
        return self.epsilon**2 / 8 + 1 / (2 * self.sigma**2)


def aim(
    codes: Codes, sizes: tuple[int, ...], epsilon: float, draw: Any, *, delta: float = DELTA, limits: Limits = LIMITS
) -> Codes:
    """A synthetic table, (ε, δ) for adding or removing one row; the number of rows is the noisy total."""
    model = fit(codes, sizes, rho_of(epsilon, delta), draw, limits).model
    return rows_of(model, round(model.total), draw)


def measure(
    codes: Codes, sizes: tuple[int, ...], rho: float, draw: Any, limits: Limits = LIMITS
) -> dict[Clique, Measurement]:
    """All noisy numbers of one run, which cost ρ."""
    return _run(codes, sizes, rho, draw, limits)[0].measurements


def fit(codes: Codes, sizes: tuple[int, ...], rho: float, draw: Any, limits: Limits = LIMITS) -> Fit:
    """The model of the last round."""
    state, last = _run(codes, sizes, rho, draw, limits)
    return fit_of(sizes, state.measurements, steps=STEPS, start=last.potentials, tolerance=_LAST_TOLERANCE)


def _run(codes: Codes, sizes: tuple[int, ...], rho: float, draw: Any, limits: Limits) -> tuple[_State, Fit]:
    """Columns first; then rounds until ρ is spent, with less noise whenever a round moved the model too little."""
    weights = workload_weights(sizes, limits)
    exact = {clique: counts_of(codes, sizes, clique) for clique in weights}
    rounds = _ROUNDS * len(sizes)
    state = _State(math.sqrt(rounds / (2 * _NOISE_SHARE * rho)), math.sqrt(8 * (1 - _NOISE_SHARE) * rho / rounds))
    for column in range(len(sizes)):
        _measure(state, (column,), exact[column,], draw)
        state.spent += 1 / (2 * state.sigma**2)
    fit = fit_of(sizes, state.measurements, steps=STEPS, tolerance=_TOLERANCE)
    is_last = False
    while not is_last:
        if rho - state.spent <= 2 * state.next_cost:
            left = rho - state.spent
            state.sigma = math.sqrt(1 / (2 * _NOISE_SHARE * left))
            state.epsilon = math.sqrt(8 * (1 - _NOISE_SHARE) * left)
            is_last = True
        state.spent += state.next_cost
        room = limits.model_cells * min(1.0, state.spent / rho)
        clique, before = _choice(state, fit, exact, _fitting(weights, sizes, state.measurements, room), draw)
        _measure(state, clique, exact[clique], draw)
        fit = fit_of(sizes, state.measurements, steps=STEPS, start=fit.potentials, tolerance=_TOLERANCE)
        after = fit.model.total * Marginals(fit.model)(clique)
        if float(np.abs(after - before).sum()) <= _HALF_NORMAL * state.sigma * before.size:
            state.sigma, state.epsilon = state.sigma / 2, state.epsilon * 2
    return state, fit


def workload_weights(sizes: Sequence[int], limits: Limits) -> dict[Clique, int]:
    """The workload and all smaller marginals in it, each with Σ |r ∩ s| over the workload's s; columns always."""
    columns = range(len(sizes))
    workload = [s for s in combinations(columns, limits.columns) if cells(sizes, s) <= limits.marginal_cells]
    closure = {r for s in workload for count in range(1, limits.columns + 1) for r in combinations(s, count)}
    closure |= {(column,) for column in columns}
    return {r: sum(len(set(r) & set(s)) for s in workload) for r in sorted(closure)}


def _fitting(
    weights: Mapping[Clique, int], sizes: Sequence[int], measured: Iterable[Clique], room: float
) -> dict[Clique, int]:
    """The marginals whose model keeps within the room; those within a measured one always do."""
    inside = [set(clique) for clique in measured]
    links = links_of(len(sizes), measured)
    fitting = {}
    for clique, weight in weights.items():
        free = any(set(clique) <= each for each in inside)
        if free or tree_cells(sizes, _with(links, clique)) <= room:
            fitting[clique] = weight
    return fitting


def _with(links: Sequence[int], clique: Clique) -> list[int]:
    bits = sum(1 << column for column in clique)
    return [each | bits if bits >> column & 1 else each for column, each in enumerate(links)]


def _choice(
    state: _State, fit: Fit, exact: Mapping[Clique, Array], weights: Mapping[Clique, int], draw: Any
) -> tuple[Clique, Array]:
    """A marginal by the exponential mechanism on w·(‖M(D) − M(p)‖₁ − √(2/π)·σ·cells), and the model's counts of it."""
    expected = Marginals(fit.model)
    cliques = list(weights)
    scores = []
    for clique in cliques:
        error = float(np.abs(exact[clique] - fit.model.total * expected(clique)).sum())
        scores.append(weights[clique] * (error - _HALF_NORMAL * state.sigma * exact[clique].size))
    place = choice(scores, state.epsilon, max(weights.values()), draw)
    return cliques[place], fit.model.total * expected(cliques[place])


def _measure(state: _State, clique: Clique, exact: Array, draw: Any) -> None:
    noisy = measurement(clique, exact + draw.normal(0, state.sigma, exact.shape), state.sigma)
    state.measurements = merge([*state.measurements.values(), noisy])
