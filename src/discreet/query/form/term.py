"""Expressions over one row in Python: `col("age") * 2 > 40` builds nodes as SQL does, and computes nothing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from discreet import errors
from discreet.errors import BadValue, bad
from discreet.query import nodes
from discreet.query.form.constant import constant, literal
from discreet.query.nodes import Expr
from discreet.schema import Type
from discreet.schema.kind import SYNONYMS
from discreet.schema.words import suggestion

MOST_OPTIONS = 10_000
_CASTS = tuple(str(kind) for kind in Type if kind is not Type.CATEGORY)


Operator = Callable[["Term", Any], "Term"]


def _comparison(op: str) -> Operator:
    return lambda term, other: Term(nodes.Compare(op, term.expr, _operand(other)))


def _arithmetic(op: str) -> tuple[Operator, Operator]:
    """The operator with the term on its left, and with the term on its right."""
    left: Operator = lambda term, other: Term(nodes.Arith(op, term.expr, _operand(other)))  # noqa: E731
    right: Operator = lambda term, other: Term(nodes.Arith(op, _operand(other), term.expr))  # noqa: E731
    return left, right


@dataclass(frozen=True)
class _DatePart:
    """A property of a term: one of `nodes.PARTS`."""

    part: str

    def __get__(self, term: "Term", owner: type) -> "Term":
        return Term(nodes.DatePart(self.part, term.expr))


@dataclass(frozen=True, eq=False)
class Term:
    """One expression; its operators give new ones.  A str beside an operator is text, never a column's name.

    >>> (Term(column("age")) >= 18).expr
    Compare(op='>=', left=Col(name='age'), right=Literal(value=18))
    """

    expr: Expr

    # comparisons ---------------------------------------------------------------------------------------------------

    __eq__ = _comparison("=")  # type: ignore[assignment]
    __ne__ = _comparison("!=")  # type: ignore[assignment]
    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("<", "<=", ">", ">="))
    __hash__ = None  # type: ignore[assignment]  # == does not answer yes or no, so a set of terms makes no sense

    def is_null(self) -> "Term":
        """Whether the cell is empty."""
        return Term(nodes.IsNull(self.expr))

    def is_in(self, options: Iterable[Any]) -> "Term":
        """Whether it is one of the public constants.

        >>> Term(column("region")).is_in(["north", "south"]).expr.options
        (Literal(value='north'), Literal(value='south'))
        """
        if isinstance(options, (str, bytes, Term)) or not isinstance(options, Iterable):
            raise bad("options", "must be a list of constants", options, "Write, for example: .is_in(['north'])")
        listed = tuple(literal(option, "option") for option in options)
        if not 0 < len(listed) <= MOST_OPTIONS:
            raise bad("options", f"must be 1 to {MOST_OPTIONS} constants", f"{len(listed)} of them", "List some.")
        return Term(nodes.In(self.expr, listed))

    def between(self, low: Any, high: Any) -> "Term":
        """Whether it lies in [low, high], both ends counted."""
        ends = nodes.Compare(">=", self.expr, _operand(low)), nodes.Compare("<=", self.expr, _operand(high))
        return Term(all_of(ends))

    def like(self, pattern: str) -> "Term":
        """SQL's LIKE: % is any text, _ one letter."""
        if not isinstance(pattern, str):
            raise bad("pattern", "must be text", pattern, "Write, for example: .like('a%')")
        return Term(nodes.Like(self.expr, str(constant(pattern, "pattern"))))

    # logic ---------------------------------------------------------------------------------------------------------

    def __and__(self, other: Any) -> "Term":
        return Term(all_of((self.expr, condition(other, "the right of &"))))

    def __or__(self, other: Any) -> "Term":
        return Term(any_of((self.expr, condition(other, "the right of |"))))

    def __rand__(self, other: Any) -> "Term":
        return Term(all_of((condition(other, "the left of &"), self.expr)))

    def __ror__(self, other: Any) -> "Term":
        return Term(any_of((condition(other, "the left of |"), self.expr)))

    def __invert__(self) -> "Term":
        return Term(nodes.Not(self.expr))

    def __bool__(self) -> NoReturn:
        what = "A condition on a column is neither true nor false before it meets the rows."
        why = "Python asked for its truth: `and`, `or`, `not`, `in`, `if` and a < b < c do."
        raise BadValue(what, why, "Use & and | with parentheses, ~ for not, .is_in([…]) and .between(a, b).")

    # arithmetic ----------------------------------------------------------------------------------------------------

    __add__, __radd__ = _arithmetic("+")
    __sub__, __rsub__ = _arithmetic("-")
    __mul__, __rmul__ = _arithmetic("*")
    __truediv__, __rtruediv__ = _arithmetic("/")
    __mod__, __rmod__ = _arithmetic("%")

    def __neg__(self) -> "Term":
        return 0 - self

    def __abs__(self) -> "Term":
        return self.abs()

    # functions -----------------------------------------------------------------------------------------------------

    def _call(self, name: str, *others: Any) -> "Term":
        return Term(nodes.Call(name, (self.expr, *map(_operand, others))))

    def abs(self) -> "Term":
        """Its distance from 0."""
        return self._call("abs")

    def floor(self) -> "Term":
        """The whole number at or below."""
        return self._call("floor")

    def ceil(self) -> "Term":
        """The whole number at or above."""
        return self._call("ceil")

    def round(self) -> "Term":
        """The nearest whole number, halves upward."""
        return self._call("round")

    def sqrt(self) -> "Term":
        """The root; empty below 0."""
        return self._call("sqrt")

    def ln(self) -> "Term":
        """The natural logarithm; empty at and below 0."""
        return self._call("ln")

    def exp(self) -> "Term":
        """e to this power."""
        return self._call("exp")

    def clamp(self, low: Any, high: Any) -> "Term":
        """Moved into the public bounds [low, high]: what gives a computed number its sensitivity."""
        return Term(nodes.Call("clamp", (self.expr, literal(low, "low"), literal(high, "high"))))

    def coalesce(self, *others: Any) -> "Term":
        """Itself, or the first of the others where it is empty."""
        return self._call("coalesce", *others)

    def nullif(self, other: Any) -> "Term":
        """Itself, but empty where it equals the other."""
        return self._call("nullif", other)

    def lower(self) -> "Term":
        """The text in lower case."""
        return self._call("lower")

    def upper(self) -> "Term":
        """The text in upper case."""
        return self._call("upper")

    def trim(self) -> "Term":
        """The text without spaces around it."""
        return self._call("trim")

    def length(self) -> "Term":
        """How many characters the text has."""
        return self._call("length")

    def cast(self, kind: str) -> "Term":
        """As another type, empty where it does not fit."""
        if not isinstance(kind, str) or kind not in _CASTS:
            close = suggestion(kind, _CASTS, SYNONYMS) if isinstance(kind, str) else None
            fix = f"Did you mean .cast({close!r})?" if close else "Write, for example: .cast('integer')"
            raise bad("kind", f"must be one of {', '.join(_CASTS)}", kind, fix)
        return Term(nodes.TryCast(self.expr, Type(kind)))

    # parts of dates, as whole numbers ------------------------------------------------------------------------------

    year, quarter, month, week, day = map(_DatePart, ("year", "quarter", "month", "week", "day"))
    weekday = _DatePart("weekday")  # 1 Monday … 7 Sunday
    hour, minute, second = map(_DatePart, ("hour", "minute", "second"))


def column(name: Any) -> nodes.Col:
    """The node of a column, or in `having` of a released name."""
    if not isinstance(name, str) or not name.strip():
        raise bad("column", "must be a name", name, "Write, for example: dp.col('age')")
    return nodes.Col(str(constant(name, "column")))


def condition(value: Any, name: str) -> Expr:
    """The expression of a term or of a boolean column's name, where a condition is expected."""
    match value:
        case Term():
            return value.expr
        case str():
            return column(value)
        case _:
            why = f"You gave {errors.short_text(value)}; & and | bind tighter than ==, so parentheses may be missing."
            fix = "Write, for example: (dp.col('age') >= 18) & (dp.col('region') == 'north')"
            raise BadValue(f"{name} must be a condition on columns.", why, fix)


def all_of(parts: Iterable[Expr]) -> Expr:
    """The conjunction, without an AND directly inside an AND; of one part that part."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, nodes.And) else (part,)))
    return flat[0] if len(flat) == 1 else nodes.And(flat)


def any_of(parts: Iterable[Expr]) -> Expr:
    """The disjunction, without an OR directly inside an OR; of one part that part."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, nodes.Or) else (part,)))
    return flat[0] if len(flat) == 1 else nodes.Or(flat)


def _operand(value: Any) -> Expr:
    return value.expr if isinstance(value, Term) else literal(value)
