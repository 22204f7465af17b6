"""How each aggregate is computed from measured parts: a closed union, read by the planner and by estimates."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.query.parts import Additive, Part, Ranks, Rows, RowSum, Tops


@dataclass(frozen=True)
class Centre:
    """An item as a distance from the middle of its public bounds: x = middle + d, |d| ≤ half."""

    middle: Fraction
    half: Fraction


@dataclass(frozen=True)
class Single:
    """value = part · step: counts (step 1) and sums."""

    part: Additive
    step: Fraction


@dataclass(frozen=True)
class MeanOf:
    """middle + Σd/n over rows whose item is not empty; n a noisy part."""

    count: Rows
    total: RowSum
    centre: Centre


@dataclass(frozen=True)
class MeanAmong:
    """middle + Σd/n for a public number n of rows, an empty cell counting as the middle (replace-one only)."""

    total: RowSum
    centre: Centre
    n: int


@dataclass(frozen=True)
class VarianceOf:
    """Second moments around the middle: `squares` is Σ(d² − half²/2), so that squares·step + n·half²/2 = Σd².

    variance = (Σd² − (Σd)²/n)/(n − less); its root if `power` is ½.
    """

    count: Rows
    total: RowSum
    squares: RowSum
    centre: Centre
    less: int
    power: Fraction  # 1: variance, 1/2: standard deviation


@dataclass(frozen=True)
class CovarianceOf:
    """(Σd·e − Σd·Σe/n)/(n − less), over rows where neither is empty."""

    count: Rows
    x_total: RowSum
    y_total: RowSum
    products: RowSum
    x: Centre
    y: Centre
    less: int


@dataclass(frozen=True)
class CorrelationOf:
    """Covariance over the root of both variances; squares as in `VarianceOf`."""

    both: CovarianceOf
    x_squares: RowSum
    y_squares: RowSum


@dataclass(frozen=True)
class Picked:
    """The grid point chosen by its rank."""

    part: Ranks


@dataclass(frozen=True)
class PickedTop:
    """The public values chosen by their frequency."""

    part: Tops


Recipe = Single | MeanOf | MeanAmong | VarianceOf | CovarianceOf | CorrelationOf | Picked | PickedTop


def parts(recipe: Recipe) -> tuple[Part, ...]:
    """All that must be measured, each once."""
    match recipe:
        case Single() | Picked() | PickedTop():
            return (recipe.part,)
        case MeanOf():
            return recipe.count, recipe.total
        case MeanAmong():
            return (recipe.total,)
        case VarianceOf():
            return recipe.count, recipe.total, recipe.squares
        case CovarianceOf():
            return recipe.count, recipe.x_total, recipe.y_total, recipe.products
        case CorrelationOf():
            return *parts(recipe.both), recipe.x_squares, recipe.y_squares
