"""The functions of the Python form, one for each of SQL's: columns, constants, cases and aggregates.

Where a column is expected a str is its name; as a value of `lit`, `case` and beside an operator it is text.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn

from discreet import amounts
from discreet.errors import BadValue, bad
from discreet.query import nodes
from discreet.query.form.constant import constant, literal
from discreet.query.form.term import Term, column, condition
from discreet.query.nodes import Aggregate, Expr, Literal
from discreet.schema.kind import number_of

MOST_EDGES = 10_001
_MOST_TOP = 100

# --- expressions over one row --------------------------------------------------------------------------------------


def col(name: str) -> Term:
    """A column, or in `having` a released name.

    >>> col("age").expr
    Col(name='age')
    """
    return Term(column(name))


def lit(value: Any) -> Term:
    """A public constant; None is NULL.

    >>> lit(0.5).expr
    Literal(value=Fraction(1, 2))
    """
    return Term(Literal(constant(value)))


def when(test: Any, value: Any) -> tuple[Term, Any]:
    """A branch of `case`: the value where the condition holds."""
    return Term(condition(test, "the condition of when")), value


def case(*branches: tuple[Any, Any], otherwise: Any = None) -> Term:
    """The value of the first branch whose condition holds; a str is text.

    >>> case(when(col("age") < 18, "minor"), otherwise="adult").expr.otherwise
    Literal(value='adult')
    """
    pairs = all(isinstance(branch, tuple) and len(branch) == 2 for branch in branches)
    if not branches or not pairs:
        fix = "Write, for example: dp.case(dp.when(dp.col('age') < 18, 'minor'), otherwise='adult')"
        raise bad("branches", "must be pairs of a condition and a value", branches, fix)
    listed = tuple((condition(test, "the condition of when"), _value(value)) for test, value in branches)
    return Term(nodes.Case(listed, _value(otherwise)))


def least(*items: Any) -> Term:
    """The least of several columns or terms; empty if any is.  A str is a column's name."""
    return _of_several("least", items)


def greatest(*items: Any) -> Term:
    """The greatest of several columns or terms; empty if any is.  A str is a column's name."""
    return _of_several("greatest", items)


def item(value: Any, name: str = "column") -> Expr:
    """The expression of a column's name, a term or a number, where a column is expected."""
    match value:
        case Term():
            return value.expr
        case str():
            return column(value)
        case _:
            return literal(value, name)


def _value(value: Any) -> Expr:
    return value.expr if isinstance(value, Term) else Literal(constant(value))


def _of_several(name: str, items: tuple[Any, ...]) -> Term:
    lowest, highest = nodes.FUNCTIONS[name]
    if not lowest <= len(items) <= highest:
        fix = f"Write, for example: dp.{name}('cost', 1000)"
        raise bad("items", f"must be {lowest} to {highest} columns or terms", f"{len(items)} of them", fix)
    return Term(nodes.Call(name, tuple(item(part) for part in items)))


def bins(column: Any, edges: Iterable[Any] | None = None) -> nodes.Bins:
    """A key for `group_by`: the public bin [edge, next edge) a number or date lies in, the last bin closed.

    Without edges, the bins that the column declares.

    >>> bins("age", [0, 18, 65, 110]).edges
    (Fraction(0, 1), Fraction(18, 1), Fraction(65, 1), Fraction(110, 1))
    """
    if edges is None:
        return nodes.Bins(item(column))
    fix = "Write, for example: dp.bins('age', [0, 18, 65, 110])"
    if isinstance(edges, (str, bytes, Term)) or not isinstance(edges, Iterable):
        raise bad("edges", "must be a list of numbers or dates", edges, fix)
    listed = tuple(_edge(edge, fix) for edge in edges)
    if not 2 <= len(listed) <= MOST_EDGES:
        raise bad("edges", f"must be 2 to {MOST_EDGES} numbers or dates", f"{len(listed)} of them", fix)
    if len({type(edge) for edge in listed}) > 1:
        raise bad("edges", "must be all numbers, all dates or all datetimes", list(listed), fix)
    if any(number_of(left) >= number_of(right) for left, right in pairwise(listed)):
        raise bad("edges", "must increase from edge to edge", edges, fix)
    return nodes.Bins(item(column), listed)


def _edge(given: Any, fix: str) -> Fraction | date | datetime:
    edge = constant(given, "edge")
    if edge is None or isinstance(edge, (bool, str)):
        raise bad("edge", "must be a number or a date", given, fix)
    return Fraction(edge) if isinstance(edge, int) else edge


# --- aggregates over rows ------------------------------------------------------------------------------------------


def _refuse_operators(self: "Measure", other: Any = None) -> NoReturn:
    what = "An aggregate cannot be compared or computed with inside a question."
    why = "Only its noisy value exists, and that is in the answer."
    fix = "Give it a name, .agg(n=dp.count()), then write .having(dp.col('n') > 100), or compute with the answer."
    raise BadValue(what, why, fix)


@dataclass(frozen=True, eq=False)
class Measure:
    """One aggregate, to be named in `agg`."""

    aggregate: Aggregate

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse_operators
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_operators
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __neg__ = _refuse_operators
    __hash__ = None  # type: ignore[assignment]


def count(column: Any = None) -> Measure:
    """COUNT(*), or with a column the rows where it is not empty; a constant never is.

    >>> count().aggregate, count("age").aggregate
    (CountRows(), Count(item=Col(name='age')))
    """
    counted = None if column is None else item(column)
    if counted is None or (isinstance(counted, Literal) and counted.value is not None):
        return Measure(nodes.CountRows())
    return Measure(nodes.Count(counted))


def count_distinct(column: Any) -> Measure:
    """COUNT(DISTINCT column); of the unit's key, how many privacy units."""
    return Measure(nodes.CountDistinct(item(column)))


def sum(column: Any) -> Measure:
    """SUM: needs public bounds, declared or by `.clamp`."""
    return Measure(nodes.Sum(item(column)))


def mean(column: Any) -> Measure:
    """AVG.

    >>> mean(col("age") * 2).aggregate
    Mean(item=Arith(op='*', left=Col(name='age'), right=Literal(value=2)))
    """
    return Measure(nodes.Mean(item(column)))


def variance(column: Any, *, less: int = 1) -> Measure:
    """VARIANCE, divided by n − less: 1 for VAR_SAMP, 0 for VAR_POP."""
    return Measure(nodes.Variance(item(column), _less(less)))


def stddev(column: Any, *, less: int = 1) -> Measure:
    """STDDEV, the root of `variance`."""
    return Measure(nodes.Stddev(item(column), _less(less)))


def median(column: Any) -> Measure:
    """MEDIAN: the quantile at ½."""
    return Measure(nodes.Quantile(item(column), Fraction(1, 2)))


def quantile(column: Any, q: Any) -> Measure:
    """The value that a share q of the rows lies below, 0 < q < 1.

    >>> quantile("age", 0.9).aggregate.q
    Fraction(9, 10)
    """
    return Measure(nodes.Quantile(item(column), amounts.inner_probability(q, "q")))


def min(column: Any) -> Measure:
    """MIN, answered as an extreme quantile, because the true minimum is one unit's value."""
    return Measure(nodes.Extreme(item(column), nodes.End.MIN))


def max(column: Any) -> Measure:
    """MAX, answered as an extreme quantile, because the true maximum is one unit's value."""
    return Measure(nodes.Extreme(item(column), nodes.End.MAX))


def mode(column: Any) -> Measure:
    """MODE: the most frequent public value."""
    return Measure(nodes.Top(item(column), 1))


def top_k(column: Any, k: int) -> Measure:
    """The k most frequent public values."""
    return Measure(nodes.Top(item(column), amounts.count(k, "k", 1, _MOST_TOP)))


def covariance(x: Any, y: Any, *, less: int = 1) -> Measure:
    """COVAR: over rows where neither is empty, divided by n − less."""
    return Measure(nodes.Covariance(item(x), item(y), _less(less)))


def correlation(x: Any, y: Any) -> Measure:
    """CORR: between −1 and 1."""
    return Measure(nodes.Correlation(item(x), item(y)))


def _less(less: Any) -> int:
    return amounts.count(less, "less", 0, 1)
