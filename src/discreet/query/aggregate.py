"""From an aggregate to its recipe: which parts are measured, on which lattices, around which middles.

Numbers are measured as distances from the middle of their public bounds: half the width instead of the larger end is
what one row can add, and the middle is added back for free.
"""

from fractions import Fraction
from math import ceil

from discreet import amounts
from discreet.errors import NotAnswerable
from discreet.query.meaning.domain import Domain, domain
from discreet.query.meaning.names import in_sql
from discreet.query.nodes import (
    Aggregate,
    Arith,
    Case,
    Col,
    Correlation,
    Count,
    CountDistinct,
    CountRows,
    CountUnits,
    Covariance,
    End,
    Expr,
    Extreme,
    IsNull,
    Literal,
    Mean,
    Quantile,
    Question,
    Stddev,
    Sum,
    Top,
    Variance,
)
from discreet.query.parts import Distinct, Grid, Ranks, Rows, RowSum, Tops, Units
from discreet.query.recipe import (
    Centre,
    CorrelationOf,
    CovarianceOf,
    MeanAmong,
    MeanOf,
    Picked,
    PickedTop,
    Recipe,
    Single,
    VarianceOf,
)
from discreet.relation import Relation
from discreet.schema import Column, Lattice, Schema, Type
from discreet.schema.column import LARGEST, default_step
from discreet.schema.words import key

EXTREMES = {End.MIN: Fraction(1, 100), End.MAX: Fraction(99, 100)}
FINEST_GRID, DEFAULT_GRID = 2**16, 2**12  # points of a quantile's grid, with a step of one's own and without
MOST_TOPS = 1000
_FINEST_STEP = Fraction(1, 2**900)


def recipe(aggregate: Aggregate, question: Question, schema: Schema) -> Recipe:
    """How the aggregate is made; refused where its numbers have no public bounds."""
    match aggregate:
        case CountRows():
            return Single(Rows(), Fraction(1))
        case Count(item):
            return Single(Rows((item,)), Fraction(1))
        case CountUnits():
            return Single(Units(), Fraction(1))
        case CountDistinct(item):
            return Single(Distinct(item), Fraction(1))
        case Sum(item):
            lattice = _lattice(item, schema, "SUM")
            if lattice.largest == 0:
                raise _constant("SUM")
            return Single(RowSum(item, lattice), lattice.step)
        case Mean(item):
            return _mean(item, question, schema)
        case Variance(item, less):
            return _variance(item, less, schema, Fraction(1))
        case Stddev(item, less):
            return _variance(item, less, schema, Fraction(1, 2))
        case Covariance(x, y, less):
            return _covariance(x, y, less, schema)
        case Correlation(x, y):
            return _correlation(x, y, schema)
        case Quantile(item, q):
            return Picked(Ranks(item, _grid(item, schema, "MEDIAN" if q == Fraction(1, 2) else "QUANTILE"), q))
        case Extreme(item, end):
            return Picked(Ranks(item, _grid(item, schema, str(end).upper()), EXTREMES[end]))
        case Top(item, k):
            return PickedTop(_tops(item, k, schema))


def _mean(item: Expr, question: Question, schema: Schema) -> Recipe:
    distance, lattice, centre = _centred(item, schema, "AVG")
    n = public_rows(question, schema)
    if n is not None:
        return MeanAmong(RowSum(distance, lattice), centre, n)
    return MeanOf(Rows((item,)), RowSum(distance, lattice), centre)


def public_rows(question: Question, schema: Schema) -> int | None:
    """How many rows there are, where that is public.

    Under replace-one with one row a unit, and a declared population, and the whole table asked about.
    """
    whole = question.where is None and not question.keys and question.caps.rows is None
    fixed = schema.relation is Relation.REPLACE_ONE and schema.unit is None
    return schema.population if whole and fixed else None


def _variance(item: Expr, less: int, schema: Schema, power: Fraction) -> VarianceOf:
    distance, lattice, centre = _centred(item, schema, "VARIANCE")
    squares = _squares(distance, centre)
    return VarianceOf(Rows((item,)), RowSum(distance, lattice), squares, centre, less, power)


def _covariance(x: Expr, y: Expr, less: int, schema: Schema) -> CovarianceOf:
    d, x_lattice, x_centre = _centred(x, schema, "COVARIANCE")
    e, y_lattice, y_centre = _centred(y, schema, "COVARIANCE")
    bound = x_centre.half * y_centre.half
    products = RowSum(Arith("*", d, e), _outward(-bound, bound, amounts.default_step(-bound, bound)))
    return CovarianceOf(
        Rows((x, y)),
        RowSum(_where_known(y, d), x_lattice),
        RowSum(_where_known(x, e), y_lattice),
        products,
        x_centre,
        y_centre,
        less,
    )


def _correlation(x: Expr, y: Expr, schema: Schema) -> CorrelationOf:
    both = _covariance(x, y, 0, schema)
    return CorrelationOf(both, _squares(both.x_total.item, both.x), _squares(both.y_total.item, both.y))


def _squares(distance: Expr, centre: Centre) -> RowSum:
    """Σ(d² − half²/2): around its own middle, so that a row adds at most half²/2."""
    half = centre.half**2 / 2
    item = Arith("-", Arith("*", distance, distance), Literal(half))
    return RowSum(item, _outward(-half, half, amounts.default_step(-half, half)))


def _where_known(other: Expr, item: Expr) -> Expr:
    """The item in rows where the other is not empty."""
    return Case(((IsNull(other), Literal(None)),), item)


def _centred(item: Expr, schema: Schema, what: str) -> tuple[Expr, Lattice, Centre]:
    """The item as a distance from a lattice point in the middle, its lattice and the centre."""
    lattice = _lattice(item, schema, what)
    middle = (lattice.low + lattice.high) // 2
    moved = Lattice(lattice.low - middle, lattice.high - middle, lattice.step)
    centre = Centre(middle * lattice.step, moved.largest * lattice.step)
    if centre.half == 0:
        raise _constant(what)
    return Arith("-", item, Literal(centre.middle)), moved, centre


def _constant(what: str) -> NotAnswerable:
    why, fix = "Its public bounds are one single number.", "Ask about a column whose bounds are apart."
    return NotAnswerable(f"{what} of a constant has nothing to measure.", why, fix)


def _lattice(item: Expr, schema: Schema, what: str) -> Lattice:
    """The public lattice of a number: the column's own, or a million steps between the bounds that follow."""
    column = _column(item, schema)
    if column is not None and column.lattice is not None:
        return column.lattice
    known = domain(item, schema)
    low, high = _interval(item, known, what, column)
    step = known.step or (amounts.default_step(low, high) if low < high else Fraction(1))
    step = max(step, 2 * amounts.power_of_two_below(max(abs(low), abs(high), step) * schema.max_rows * 2 / LARGEST))
    return _outward(low, high, step)


def _outward(low: Fraction, high: Fraction, step: Fraction) -> Lattice:
    if not _FINEST_STEP <= step <= 1 / _FINEST_STEP:
        why = "Its public bounds are so close, or so far apart, that the engine's numbers cannot tell its steps apart."
        raise NotAnswerable("This number cannot be measured.", why, "Ask for it in another unit.")
    return Lattice(amounts.steps_down(low, step), amounts.steps_up(high, step), step)


def _interval(item: Expr, known: Domain, what: str, column: Column | None) -> tuple[Fraction, Fraction]:
    if known.interval is not None:
        return known.interval
    why = "How far one unit can move the answer would have to be read off the data."
    if column is not None:
        here = key("columns", column.name)
        fix = f"Under [{here}] write limits from law or tariffs, not from the data: bounds = [0, 100]"
        raise NotAnswerable(f"{what}({in_sql(column.name)}) needs public bounds.", why, fix)
    fix = f"Say between what limits it counts, for example {what}(clamp(…, 0, 100))."
    raise NotAnswerable(f"{what} of this expression needs public bounds.", why, fix)


def _grid(item: Expr, schema: Schema, what: str) -> Grid:
    """The public points a quantile is chosen from: the column's lattice, coarsened to a public number of points."""
    column, lattice = _column(item, schema), _lattice(item, schema, what)
    own = column is not None and (column.type is not Type.NUMBER or column.step != default_step(column))
    each = ceil(Fraction(lattice.points, FINEST_GRID if own else DEFAULT_GRID))
    return Grid(lattice.low * lattice.step, each * lattice.step, ceil(Fraction(lattice.points, each)))


def coarse_step(part: Ranks, schema: Schema) -> Fraction | None:
    """How far apart a quantile's points are, where the values themselves lie on finer steps."""
    return part.grid.step if part.grid.step > _lattice(part.item, schema, "QUANTILE").step else None


def _tops(item: Expr, k: int, schema: Schema) -> Tops:
    known = domain(item, schema)
    if known.values is None:
        why = "The most frequent value is chosen among public ones."
        fix = 'List them in the metadata under the column: values = ["…"], or GROUP BY it and ORDER BY the count.'
        raise NotAnswerable("MODE and TOP_K need a column with public values.", why, fix)
    if not 1 <= k <= min(MOST_TOPS, len(known.values)):
        why = f"There are {len(known.values)} public values to choose from."
        raise NotAnswerable(f"TOP_K cannot give {k} values.", why, f"Ask for 1 to {min(MOST_TOPS, len(known.values))}.")
    return Tops(item, known.values, k)


def _column(item: Expr, schema: Schema) -> Column | None:
    return schema.find(item.name) if isinstance(item, Col) else None
