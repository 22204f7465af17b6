"""Whether an item lies on its lattice in every row, so that steps hold its value without rounding.

The engine computes numbers in doubles (`render`).  A double holds k·g exactly where g is a whole multiple of 2^−e and
|k·g|·2^e ≤ 2⁵³, and +, − and · of such numbers are exact as long as their result is of that kind too.  `_grain` follows
that through an expression; an item that it cannot follow may be rounded by half a step.
"""

from datetime import date
from fractions import Fraction

from discreet.query import nodes
from discreet.query.compile.measures import stored_steps
from discreet.query.layout import Store, storage
from discreet.query.meaning.domain import domain
from discreet.query.meaning.interval import common_step
from discreet.query.meaning.known import TIMES
from discreet.schema import Lattice, Schema, Type

_EXACT = 2**53
_ONE = Fraction(1)


def is_aligned(item: nodes.Expr, lattice: Lattice, schema: Schema) -> bool:
    """Whether `measures.steps` gives the item's value itself, in steps, in every row.

    >>> from discreet.schema import Column
    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    >>> is_aligned(nodes.Arith("*", nodes.Col("age"), nodes.Literal(3)), Lattice(0, 330, Fraction(1)), people)
    True
    >>> is_aligned(nodes.Arith("/", nodes.Col("age"), nodes.Literal(3)), Lattice(0, 37, Fraction(1)), people)
    False
    """
    if stored_steps(item, lattice.step, schema) is not None:
        return True
    grain = _grain(item, schema)
    if grain is None or not _is_dyadic(lattice.step) or (grain / lattice.step).denominator != 1:
        return False
    # the quotient by the step, and ½ more, are held exactly too
    return _fits(item, schema, grain) and 2 * lattice.largest < _EXACT


def _grain(expr: nodes.Expr, schema: Schema) -> Fraction | None:
    """g, dyadic: the computed value is exact and a multiple of g wherever it is at most 2⁵³; 0 for 0 and NULL."""
    match expr:
        case nodes.Literal(None):
            return Fraction(0)
        case nodes.Literal(value):
            if value is None or isinstance(value, str | date) or not _is_dyadic(Fraction(value)):
                return None
            return abs(Fraction(value))
        case nodes.Compare() | nodes.In() | nodes.Like() | nodes.IsNull() | nodes.Not() | nodes.And() | nodes.Or():
            return _ONE
        case nodes.UnitIn():
            return _ONE
        case nodes.DatePart() | nodes.TryCast(_, Type.INTEGER) | nodes.Call("floor" | "ceil" | "round" | "length"):
            return _ONE
        case nodes.Col(name):
            return _column_grain(name, schema)
        case nodes.Case(branches, otherwise):
            return _common_grain([*(value for _, value in branches), otherwise], schema)
        case nodes.Call("nullif" | "abs", (item, *_)):
            return _common_grain([item], schema)
        case nodes.Call("coalesce" | "least" | "greatest" | "clamp", parts):
            return _common_grain(parts, schema)  # each picks one of its arguments, and never a larger one
        case nodes.Arith():
            return _arithmetic_grain(expr, schema)
        case _:
            return None


def _column_grain(name: str, schema: Schema) -> Fraction | None:
    column = schema.find(name)
    if column is None:
        return None
    match column.type:
        case Type.BOOLEAN:
            return _ONE
        case Type.INTEGER:
            return _ONE if column.lattice is None else column.lattice.step
        case Type.NUMBER if column.lattice is not None and storage(schema, column).store is Store.STEPS:
            return column.lattice.step if _is_dyadic(column.lattice.step) else None
        case _:
            return None


def _common_grain(items: list[nodes.Expr] | tuple[nodes.Expr, ...], schema: Schema) -> Fraction | None:
    grain = Fraction(0)
    for item in items:
        item_grain = _grain(item, schema)
        if item_grain is None:
            return None
        grain = common_step(grain, item_grain)
    return grain


def _arithmetic_grain(expr: nodes.Arith, schema: Schema) -> Fraction | None:
    if domain(expr.left, schema).type in TIMES:
        return _ONE  # the difference of two whole numbers of days or seconds, as BIGINT
    left, right = _grain(expr.left, schema), _grain(expr.right, schema)
    if left is None or right is None or not _fits(expr.left, schema, left) or not _fits(expr.right, schema, right):
        return None
    match expr.op:
        case "+" | "-" | "%":
            grain = common_step(left, right)
        case "*":
            grain = left * right
        case _:
            return None
    return grain if _fits(expr, schema, grain) else None


def _fits(expr: nodes.Expr, schema: Schema, grain: Fraction) -> bool:
    ends = domain(expr, schema).interval
    return ends is not None and max(abs(ends[0]), abs(ends[1])) * grain.denominator <= _EXACT


def _is_dyadic(value: Fraction) -> bool:
    """Whether a double holds the number."""
    top, bottom = abs(value.numerator), value.denominator
    return top <= _EXACT and bottom & (bottom - 1) == 0 and bottom <= 2**1000
