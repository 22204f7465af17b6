"""Compare a public constant with a column that is stored in steps, exactly, on the column's lattice.

    factor · (steps · step) + shift  op  constant      ⇔      steps  op'  (constant − shift) / (factor · step)

with op' turned round where the factor is negative.  Every number here is a Fraction, so nothing is rounded; only beside
a `number` column whose metadata declare no step is a decimal read as the column's cells are, to the nearest step.
"""

from dataclasses import dataclass
from fractions import Fraction

from discreet import amounts
from discreet.query.layout import Store, storage
from discreet.query.nodes import COMPARISONS, Arith, Col, Expr, Literal
from discreet.schema import Column, Schema, Type
from discreet.schema.column import has_undeclared_step

FLIPPED = dict(zip(COMPARISONS, ("=", "!=", ">", ">=", "<", "<="), strict=True))


@dataclass(frozen=True)
class Line:
    """factor · column + shift, of a column stored in steps; the factor is not 0."""

    column: Column
    step: Fraction
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    def comparison(self, op: str, constant: Fraction) -> tuple[str, Fraction]:
        """The comparison with the constant as one of the stored steps: an operator, and a place on their axis."""
        return (op if self.factor > 0 else FLIPPED[op]), self.place(constant)

    def place(self, constant: Fraction) -> Fraction:
        """Where the constant lies, in steps: a whole number where some cell could hold it.

        Without a declared step the bounds are at least 2²⁰ steps apart and decimals rarely lie on one; cells were
        rounded to the nearest, so the decimal is too, as long as decimals of so many digits keep steps of their own.
        """
        value = (constant - self.shift) / self.factor
        place = value / self.step
        if place.denominator == 1 or not self.undeclared or not _told_apart(value, self.step):
            return place
        return Fraction(amounts.steps(value, self.step))

    @property
    def undeclared(self) -> bool:
        """Whether the step is not declared, so that cells are rounded to it."""
        return has_undeclared_step(self.column)


def line(expr: Expr, schema: Schema) -> Line | None:
    """The expression as a line over one stored column, if it is the column with + − · / and constants; else None.

    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    >>> axis = line(Arith("-", Literal(20), Arith("*", Col("age"), Literal(2))), people)
    >>> axis.factor, axis.shift, axis.comparison("<", Fraction(3))
    (Fraction(-2, 1), Fraction(20, 1), ('>', Fraction(17, 2)))
    """
    match expr:
        case Col(name):
            column = schema.find(name)
            cell = None if column is None else storage(schema, column)
            if column is None or cell is None or cell.store is not Store.STEPS:
                return None
            return Line(column, cell.step)
        case Arith(op, left, Literal(value)):
            return _moved(line(left, schema), op, _number(value))
        case Arith("+" | "*" as op, Literal(value), right):
            return _moved(line(right, schema), op, _number(value))
        case Arith("-", Literal(value), right):
            return _moved(_moved(line(right, schema), "*", Fraction(-1)), "+", _number(value))
        case _:
            return None


def _moved(axis: Line | None, op: str, number: Fraction | None) -> Line | None:
    """The line plus, minus, times or over a number; None if the result is no line."""
    if axis is None or number is None or axis.column.type not in (Type.INTEGER, Type.NUMBER):
        return None
    match op:
        case "+":
            return Line(axis.column, axis.step, axis.factor, axis.shift + number)
        case "-":
            return Line(axis.column, axis.step, axis.factor, axis.shift - number)
        case "*" if number != 0:
            return Line(axis.column, axis.step, axis.factor * number, axis.shift * number)
        case "/" if number != 0:
            return Line(axis.column, axis.step, axis.factor / number, axis.shift / number)
        case _:
            return None


def _number(value: object) -> Fraction | None:
    return Fraction(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else None


def _told_apart(value: Fraction, step: Fraction) -> bool:
    """Whether the value is a decimal and any two decimals of as many digits lie at least a step apart."""
    remainder, digits = value.denominator, 0
    while remainder % 10 == 0 or remainder % 5 == 0 or remainder % 2 == 0:
        remainder, digits = remainder // (10 if remainder % 10 == 0 else 5 if remainder % 5 == 0 else 2), digits + 1
    return remainder == 1 and step <= Fraction(1, 10**digits)
