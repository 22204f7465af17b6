"""The recipe of an aggregate: its parts, their lattices and the middles they are measured from.

Numbers are measured as distances from the middle of their public bounds: one row then adds at most half the
width instead of the larger end, and the middle is added back for free.
"""

from fractions import Fraction
from math import ceil

from discreet import amounts
from discreet.errors import NotAnswerable
from discreet.query import nodes
from discreet.query import recipe as recipes
from discreet.query.meaning.domain import Domain, domain
from discreet.query.meaning.names import in_sql
from discreet.query.parts import Distinct, Grid, Ranks, Rows, RowSum, Tops, Units
from discreet.query.recipe import Recipe
from discreet.relation import Relation
from discreet.schema import Column, Lattice, Schema, Type
from discreet.schema.column import LARGEST, default_step
from discreet.schema.words import key

EXTREMES = {nodes.End.MIN: Fraction(1, 100), nodes.End.MAX: Fraction(99, 100)}
FINEST_GRID, DEFAULT_GRID = 2**16, 2**12  # points of a quantile's grid, with a step of one's own and without
MOST_TOPS = 1000
_FINEST_STEP = Fraction(1, 2**900)


def recipe(aggregate: nodes.Aggregate, question: nodes.Question, schema: Schema) -> Recipe:
    """How the aggregate is made; refused where its numbers have no public bounds."""
    match aggregate:
        case nodes.CountRows():
            return recipes.Single(Rows(), Fraction(1))
        case nodes.Count(item):
            return recipes.Single(Rows((item,)), Fraction(1))
        case nodes.CountUnits():
            return recipes.Single(Units(), Fraction(1))
        case nodes.CountDistinct(item):
            return recipes.Single(Distinct(item), Fraction(1))
        case nodes.Sum(item):
            lattice = _lattice(item, schema, "SUM")
            if lattice.largest == 0:
                raise _constant("SUM")
            return recipes.Single(RowSum(item, lattice), lattice.step)
        case nodes.Mean(item):
            return _mean(item, question, schema)
        case nodes.Variance(item, less):
            return _variance(item, less, schema, Fraction(1))
        case nodes.Stddev(item, less):
            return _variance(item, less, schema, Fraction(1, 2))
        case nodes.Covariance(x, y, less):
            return _covariance(x, y, less, schema)
        case nodes.Correlation(x, y):
            return _correlation(x, y, schema)
        case nodes.Quantile(item, q):
            return recipes.Picked(Ranks(item, _grid(item, schema, "MEDIAN" if q == Fraction(1, 2) else "QUANTILE"), q))
        case nodes.Extreme(item, end):
            return recipes.Picked(Ranks(item, _grid(item, schema, str(end).upper()), EXTREMES[end]))
        case nodes.Top(item, k):
            return recipes.PickedTop(_tops(item, k, schema))


def _mean(item: nodes.Expr, question: nodes.Question, schema: Schema) -> Recipe:
    distance, lattice, centre = _around_middle(item, schema, "AVG")
    n = public_rows(question, schema)
    if n is not None:
        return recipes.MeanAmong(RowSum(distance, lattice), centre, n)
    return recipes.MeanOf(Rows((item,)), RowSum(distance, lattice), centre)


def public_rows(question: nodes.Question, schema: Schema) -> int | None:
    """How many rows there are, where that is public.

    Under replace-one with one row a unit, and a declared population, and the whole table asked about.
    """
    all_rows = question.where is None and not question.keys and question.caps.rows is None
    fixed = schema.relation is Relation.REPLACE_ONE and schema.unit is None
    return schema.population if all_rows and fixed else None


def _variance(item: nodes.Expr, less: int, schema: Schema, power: Fraction) -> recipes.VarianceOf:
    distance, lattice, centre = _around_middle(item, schema, "VARIANCE")
    squares = _squares(distance, centre)
    return recipes.VarianceOf(Rows((item,)), RowSum(distance, lattice), squares, centre, less, power)


def _covariance(x: nodes.Expr, y: nodes.Expr, less: int, schema: Schema) -> recipes.CovarianceOf:
    d, x_lattice, x_centre = _around_middle(x, schema, "COVARIANCE")
    e, y_lattice, y_centre = _around_middle(y, schema, "COVARIANCE")
    bound = x_centre.half * y_centre.half
    products = RowSum(nodes.Arith("*", d, e), _outward(-bound, bound, amounts.default_step(-bound, bound)))
    return recipes.CovarianceOf(
        Rows((x, y)),
        RowSum(_where_known(y, d), x_lattice),
        RowSum(_where_known(x, e), y_lattice),
        products,
        x_centre,
        y_centre,
        less,
    )


def _correlation(x: nodes.Expr, y: nodes.Expr, schema: Schema) -> recipes.CorrelationOf:
    covariance = _covariance(x, y, 0, schema)
    x_squares = _squares(covariance.x_total.item, covariance.x)
    return recipes.CorrelationOf(covariance, x_squares, _squares(covariance.y_total.item, covariance.y))


def _squares(distance: nodes.Expr, centre: recipes.Centre) -> RowSum:
    """Σ(d² − half²/2): around its own middle, so that a row adds at most half²/2."""
    half = centre.half**2 / 2
    item = nodes.Arith("-", nodes.Arith("*", distance, distance), nodes.Literal(half))
    return RowSum(item, _outward(-half, half, amounts.default_step(-half, half)))


def _where_known(other: nodes.Expr, item: nodes.Expr) -> nodes.Expr:
    """The item in rows where the other is not empty."""
    return nodes.Case(((nodes.IsNull(other), nodes.Literal(None)),), item)


def _around_middle(item: nodes.Expr, schema: Schema, function: str) -> tuple[nodes.Expr, Lattice, recipes.Centre]:
    """The item as a distance from a lattice point in the middle, its lattice and the centre."""
    lattice = _lattice(item, schema, function)
    middle = (lattice.low + lattice.high) // 2
    distances = Lattice(lattice.low - middle, lattice.high - middle, lattice.step)
    centre = recipes.Centre(middle * lattice.step, distances.largest * lattice.step)
    if centre.half == 0:
        raise _constant(function)
    return nodes.Arith("-", item, nodes.Literal(centre.middle)), distances, centre


def _constant(function: str) -> NotAnswerable:
    why, fix = "Its public bounds are one single number.", "Ask about a column whose bounds are apart."
    return NotAnswerable(f"{function} of a constant has nothing to measure.", why, fix)


def _lattice(item: nodes.Expr, schema: Schema, function: str) -> Lattice:
    """The public lattice of a number: the column's own, or a million steps between the bounds that follow."""
    column = _column(item, schema)
    if column is not None and column.lattice is not None:
        return column.lattice
    known = domain(item, schema)
    low, high = _interval(known, function, column)
    step = known.step or (amounts.default_step(low, high) if low < high else Fraction(1))
    step = max(step, 2 * amounts.power_of_two_below(max(abs(low), abs(high), step) * schema.max_rows * 2 / LARGEST))
    return _outward(low, high, step)


def _outward(low: Fraction, high: Fraction, step: Fraction) -> Lattice:
    if not _FINEST_STEP <= step <= 1 / _FINEST_STEP:
        why = "Its public bounds are so close, or so far apart, that the engine's numbers cannot tell its steps apart."
        raise NotAnswerable("This number cannot be measured.", why, "Ask for it in another unit.")
    return Lattice(amounts.steps_down(low, step), amounts.steps_up(high, step), step)


def _interval(known: Domain, function: str, column: Column | None) -> tuple[Fraction, Fraction]:
    if known.interval is not None:
        return known.interval
    why = "How far one unit can move the answer would have to be read off the data."
    if column is not None:
        section = key("columns", column.name)
        fix = f"Under [{section}] write limits from law or tariffs, not from the data: bounds = [0, 100]"
        raise NotAnswerable(f"{function}({in_sql(column.name)}) needs public bounds.", why, fix)
    fix = f"Say between what limits it counts, for example {function}(clamp(…, 0, 100))."
    raise NotAnswerable(f"{function} of this expression needs public bounds.", why, fix)


def _grid(item: nodes.Expr, schema: Schema, function: str) -> Grid:
    """The public points a quantile is chosen from: the column's lattice, coarsened to a public number of points."""
    column, lattice = _column(item, schema), _lattice(item, schema, function)
    declared = column is not None and (column.type is not Type.NUMBER or column.step != default_step(column))
    coarser = ceil(Fraction(lattice.points, FINEST_GRID if declared else DEFAULT_GRID))
    return Grid(lattice.low * lattice.step, coarser * lattice.step, ceil(Fraction(lattice.points, coarser)))


def coarse_step(part: Ranks, schema: Schema) -> Fraction | None:
    """How far apart a quantile's points are, where the values themselves lie on finer steps."""
    return part.grid.step if part.grid.step > _lattice(part.item, schema, "QUANTILE").step else None


def _tops(item: nodes.Expr, k: int, schema: Schema) -> Tops:
    values = domain(item, schema).values
    if values is None:
        why = "The most frequent value is chosen among public ones."
        fix = 'List them in the metadata under the column: values = ["…"], or GROUP BY it and ORDER BY the count.'
        raise NotAnswerable("MODE and TOP_K need a column with public values.", why, fix)
    limit = min(MOST_TOPS, len(values))
    if not 1 <= k <= limit:
        why = f"There are {len(values)} public values to choose from."
        raise NotAnswerable(f"TOP_K cannot give {k} values.", why, f"Ask for 1 to {limit}.")
    return Tops(item, values, k)


def _column(item: nodes.Expr, schema: Schema) -> Column | None:
    return schema.find(item.name) if isinstance(item, nodes.Col) else None
