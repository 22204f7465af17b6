"""The shares of a question's ε that its parts get, for the smallest total error.

A part with l1 and l2 sensitivity, unit u (the most one unit moves one cell) and weight w (how much its noise matters
to the columns computed from it) gets

    Laplace   ε_i  ∝ (w·(l1/u)²)^⅓         which makes Σ w·(l1/u)²/ε_i² smallest for Σ ε_i = ε
    Gaussian  μ_i² ∝ (w·(l2/u)²)^½         which makes Σ w·(l2/u)²/μ_i² smallest for Σ μ_i² = μ²

by Lagrange.  Equal parts get equal shares: D counts at ε/D each.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.bounded import Sensitivity
from discreet.query import recipe as recipes
from discreet.query.parts import Part
from discreet.query.recipe import Recipe

# A mean's error is (noise of the sum + (mean − middle)·noise of the count)/n.  For a mean anywhere between its bounds
# (mean − middle)² is a third of half² on average.
_COUNT = Fraction(1, 3)
_ONE = Fraction(1)


def weights(recipes: Sequence[Recipe]) -> dict[Part, Fraction]:
    """How much each part's noise matters, in squares of its own unit, summed over the columns computed from it."""
    total: dict[Part, Fraction] = {}
    for recipe in recipes:
        for part, weight in _weights(recipe):
            total[part] = total.get(part, Fraction(0)) + weight
    return total


def _weights(recipe: Recipe) -> list[tuple[Part, Fraction]]:
    match recipe:
        case recipes.Single() | recipes.Picked() | recipes.PickedTop():
            return [(recipe.part, _ONE)]
        case recipes.MeanOf():
            return [(recipe.count, _COUNT), (recipe.total, _ONE)]
        case recipes.MeanAmong():
            return [(recipe.total, _ONE)]
        case recipes.VarianceOf():
            return [(recipe.count, _COUNT), (recipe.total, _ONE), (recipe.squares, _ONE)]
        case recipes.CovarianceOf():
            quarters = (recipe.count, recipe.x_total, recipe.y_total)
            return [*((part, _ONE / 4) for part in quarters), (recipe.products, _ONE)]
        case recipes.CorrelationOf():
            return [*_weights(recipe.both), (recipe.x_squares, _ONE), (recipe.y_squares, _ONE)]


def laplace_shares(needs: Mapping[Part, tuple[Fraction, Sensitivity]]) -> dict[Part, Fraction]:
    """ε_i/ε for each part, adding up to 1 exactly.

    >>> from discreet.bounded import scalar
    >>> from discreet.query.parts import Rows, Units
    >>> laplace_shares({Rows(): (Fraction(1), scalar(1)), Units(): (Fraction(1), scalar(1))})[Rows()]
    Fraction(1, 2)
    """
    return _shares({part: _root(w * (s.l1 / s.linf) ** 2, 1 / 3) for part, (w, s) in needs.items()})


def gaussian_shares(needs: Mapping[Part, tuple[Fraction, Sensitivity]]) -> dict[Part, Fraction]:
    """μ_i²/μ² for each part, adding up to 1 exactly."""
    return _shares({part: _root(w * s.l2_squared / s.linf**2, 1 / 2) for part, (w, s) in needs.items()})


def _shares(roots: Mapping[Part, Fraction]) -> dict[Part, Fraction]:
    total = sum(roots.values(), Fraction(0))
    return {part: root / total for part, root in roots.items()}


def _root(value: Fraction, power: float) -> Fraction:
    """A short fraction near the power; any would do, as long as shares add up to 1."""
    return max(Fraction(float(value) ** power).limit_denominator(100), Fraction(1, 100))
