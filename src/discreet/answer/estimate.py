"""Estimate values with an honest ± from noisy parts: one rule per recipe.

Every interval holds the exact value, the one the same formula gives without noise, with probability ≥ level: it is made
of released numbers, public laws and public bounds only, so it costs nothing.  Where several noises meet, 1 − level is
split over them by public shares.  Proofs on docs/proofs/answer/interval.md.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet import amounts
from discreet.answer import moments
from discreet.answer.noisy import Estimates, Noisy, Value, certain_bounds
from discreet.query import recipe as recipes
from discreet.query.parts import Part
from discreet.query.recipe import Recipe


def estimates_of(recipe: Recipe, noisy: Mapping[Part, Noisy], level: Fraction) -> Estimates:
    """Values and intervals at that level, for every cell.  Noisy counts stay as drawn, below 0 too.

    >>> from discreet.noise.laplace import DiscreteLaplace
    >>> from discreet.query.parts import Rows
    >>> drawn = {Rows(): Noisy(np.array([1204, -3]), DiscreteLaplace(Fraction(10)))}
    >>> estimates_of(recipes.Single(Rows(), Fraction(1)), drawn, Fraction(95, 100))
    Estimates(value=[1204, -3], low=[1174, -33], high=[1234, 27], ranks=None, shortfall=None)
    """
    match recipe:
        case recipes.Single():
            return _single(recipe, noisy[recipe.part], level)
        case recipes.MeanOf():
            return moments.mean_of(recipe, noisy, level)
        case recipes.MeanAmong():
            return _mean_among(recipe, noisy[recipe.total], level)
        case recipes.VarianceOf():
            return moments.variance_of(recipe, noisy, level)
        case recipes.CovarianceOf():
            return moments.covariance_of(recipe, noisy, level)
        case recipes.CorrelationOf():
            return moments.correlation_of(recipe, noisy, level)
        case recipes.Picked():
            return _chosen_point(recipe, noisy[recipe.part], level)
        case recipes.PickedTop():
            return _chosen_values(recipe, noisy[recipe.part], level)
        case _:
            raise TypeError(f"{type(recipe).__name__} is no recipe")


# --- one noisy number ------------------------------------------------------------------------------------------------


def _single(recipe: recipes.Single, noisy: Noisy, level: Fraction) -> Estimates:
    """noisy·step ± radius·step: the shortest symmetric interval on the lattice."""
    r, step = noisy.noise.radius(level), recipe.step
    by: int | Fraction = step.numerator if step.denominator == 1 else step
    counts = np.asarray(noisy.values, dtype=np.int64).tolist()
    return Estimates([v * by for v in counts], [(v - r) * by for v in counts], [(v + r) * by for v in counts])


def _mean_among(recipe: recipes.MeanAmong, noisy: Noisy, level: Fraction) -> Estimates:
    """middle + Σd/n for a public n: the sum's interval, scaled and cut to the bounds."""
    lattice, centre, n = recipe.total.lattice, recipe.centre, recipe.n
    r = noisy.noise.radius(level) + n * noisy.rounding
    lower, upper = certain_bounds(recipe)
    value, low, high = [], [], []
    for v in np.asarray(noisy.values, dtype=np.int64).tolist():
        mean = min(max(centre.middle + v * lattice.step / n, centre.middle - centre.half), centre.middle + centre.half)
        ends = (min(max(centre.middle + end * lattice.step / n, lower), upper) for end in (v - r, v + r))
        value.append(float(mean))
        low.append(min(amounts.float_down(next(ends)), value[-1]))
        high.append(max(amounts.float_up(next(ends)), value[-1]))
    return Estimates(list(value), list(low), list(high))


# --- chosen ones -----------------------------------------------------------------------------------------------------


def _chosen_point(recipe: recipes.Picked, noisy: Noisy, level: Fraction) -> Estimates:
    """A grid point; its error is known in ranks only, since few rows may lie between it and values far from it."""
    grid = recipe.part.grid
    values: list[Value] = []
    for index in np.asarray(noisy.values, dtype=np.int64).tolist():
        point = grid.first + index * grid.step
        values.append(point.numerator if point.denominator == 1 else point)
    none: list[None] = [None] * len(values)
    ranks = None if noisy.law is None else noisy.law.rank_error(grid.points, 1 - level)
    return Estimates(values, list(none), list(none), ranks=ranks)


def _chosen_values(recipe: recipes.PickedTop, noisy: Noisy, level: Fraction) -> Estimates:
    """The chosen values, best guess first; with probability ≥ level each is less than `shortfall` rows behind the
    most frequent value not chosen before it."""
    part = recipe.part
    chosen = np.asarray(noisy.values, dtype=np.int64).reshape(-1, part.k).tolist()
    rows = [[part.values[index] for index in row] for row in chosen]
    values: list[Value] = [row[0] if part.k == 1 else tuple(row) for row in rows]
    none: list[None] = [None] * len(values)
    shortfall = None
    if noisy.law is not None:
        selection = getattr(noisy.law, "choice", noisy.law)
        shortfall = selection.shortfall(len(part.values), (1 - level) / part.k)
    return Estimates(values, list(none), list(none), shortfall=shortfall)
