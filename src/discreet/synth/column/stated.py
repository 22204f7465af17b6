"""Structural zeros as a user states them: combinations of columns that cannot occur, checked against public facts.

    {"age": (0, 14), "marital_status": ["married", "divorced"]}      nobody of 0 … 14 is married or divorced
    {"pregnant": True, "births": None}                               who is pregnant has a cell for births
    {"age": None}                                                    no age is empty

Each column has a value, a list of values, a closed range (low, high) if it is ordered, or None for the empty cell.  A
combination is impossible where every column of the mapping has one of its values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from numbers import Real
from typing import Any

from discreet.errors import bad
from discreet.schema import Column, Schema, Type
from discreet.schema.kind import ORDERED, number_of, parse_value
from discreet.schema.words import suggestion, toml_value
from discreet.synth.column.choice import near_name
from discreet.synth.column.obstacle import MOST_CELLS, require_cells

MOST_ZEROS = 1000
MOST_CUTS = 512
_EXAMPLE = '{"age": (0, 14), "marital_status": ["married"]}'
_SCALARS = (str, date, Real, Decimal)  # nothing that may hold rows is quoted


@dataclass(frozen=True)
class Members:
    """What an impossible combination says of one column: listed values, ranges from a low end to below the next, and
    whether the empty cell belongs to it.

    Ranges are numbers, days or seconds since 1970, on the lattice.
    """

    values: frozenset[str | int | bool] = frozenset()
    ranges: tuple[tuple[Fraction, Fraction], ...] = ()
    with_empty: bool = False


@dataclass(frozen=True)
class Stated:
    """One impossible combination: the members of each of its columns, by the column's name."""

    parts: Mapping[str, Members]


def stated_zeros(schema: Schema, zeros: Any) -> tuple[Stated, ...]:
    """The combinations that were given; refused where one names what the table does not have."""
    if zeros is None:
        return ()
    fix = f"Give, for example, zeros = [{_EXAMPLE}]."
    if isinstance(zeros, (str, Mapping)) or not isinstance(zeros, Sequence):
        raise bad("zeros", "must be a list of combinations", zeros, fix)
    if len(zeros) > MOST_ZEROS:
        rule = f"must be at most {MOST_ZEROS:,} combinations"
        raise bad("zeros", rule, len(zeros), "Join those that differ in one column by a list of its values.")
    return tuple(_combination(schema, given, f"zeros[{place}]") for place, given in enumerate(zeros))


def cuts_of(zeros: Iterable[Stated]) -> dict[str, tuple[Fraction, ...]]:
    """For each column with ranges the edges that keep every fine cell on one side of their ends."""
    cuts: dict[str, set[Fraction]] = {}
    for zero in zeros:
        for name, members in zero.parts.items():
            cuts.setdefault(name, set()).update(end for ends in members.ranges for end in ends)
    for name, edges in cuts.items():
        if len(edges) > MOST_CUTS:
            rule = f"must divide a range at no more than {MOST_CUTS} places"
            fix = "Join values that lie side by side to ranges (low, high)."
            raise bad("zeros", rule, f"{len(edges):,} places in {name!r}", fix)
    return {name: tuple(sorted(edges)) for name, edges in cuts.items() if edges}


def _combination(schema: Schema, given: Any, where: str) -> Stated:
    if not isinstance(given, Mapping):
        raise bad(where, "must map columns to what cannot occur together", given, f"Give, for example, {_EXAMPLE}.")
    if len(given) < 2 and list(given.values()) != [None]:
        fix = "For values that never occur declare others: remove them from values, or narrow the bounds."
        raise bad(where, "must name two columns or more, or one that is never empty", given, fix)
    parts: dict[str, Members] = {}
    for name, cells in given.items():
        column = schema.find(name) if isinstance(name, str) else None
        if column is None:
            raise bad(where, "must name declared columns", name, near_name(schema, name))
        if column.name in parts:
            raise bad(where, "must name each column once", name, f"Join both under {column.name!r} as a list.")
        require_cells(column)
        parts[column.name] = _members(column, cells, f"{where}[{column.name!r}]")
    return Stated(parts)


def _members(column: Column, given: Any, where: str) -> Members:
    is_ordered = column.type in ORDERED
    if isinstance(given, tuple):
        if not is_ordered or len(given) != 2:
            rule = "must be a value or a list; a pair (low, high) is a range of numbers or dates"
            raise bad(where, rule, given, "Write the values in square brackets.")
        return _range(column, given, where)
    cells = given if isinstance(given, list) else [given]
    if not 0 < len(cells) <= MOST_CELLS:
        raise bad(where, f"must be 1 to {MOST_CELLS:,} values", len(cells), "Leave the column out, or list its values.")
    listed = [cell for cell in cells if cell is not None]
    with_empty = len(listed) < len(cells)
    if is_ordered and column.values is None:
        return Members(ranges=tuple(_point(column, cell, where) for cell in listed), with_empty=with_empty)
    return Members(frozenset(_value(column, cell, where) for cell in listed), with_empty=with_empty)


def _value(column: Column, given: Any, where: str) -> str | int | bool:
    """One of the listed values."""
    _require_scalar(given, where)
    if column.type is Type.BOOLEAN:
        if not isinstance(given, bool):
            raise bad(where, "must be True, False or None", given, "Write, for example: True.")
        return given
    fix = f"Write, for example: {_text((column.values or ('',))[0])}."
    value = int(number_of(parse_value(given, column.type, where, fix))) if column.type is Type.INTEGER else given
    if value not in (column.values or ()):
        texts = [item for item in column.values or () if isinstance(item, str)]
        similar = suggestion(str(given), texts)
        raise bad(where, "must be among the public values", given, f"Did you mean {similar!r}?" if similar else fix)
    return value


def _point(column: Column, given: Any, where: str) -> tuple[Fraction, Fraction]:
    """One value of an ordered column as a range."""
    number, step = _number(column, given, where), column.step or Fraction(1)
    if number % step:
        rule = f"must be a value of the column, whose step is {toml_value(step)}"
        raise bad(where, rule, given, "Write a range around it: (low, high).")
    return number, number + step


def _range(column: Column, given: tuple[Any, Any], where: str) -> Members:
    """The listed values, or the points of the lattice, within a closed range, which must hold one."""
    low, high = (_number(column, end, where) for end in given)
    if low > high:
        raise bad(where, "must have the lower end first", given, f"Write: {_pair(given[1], given[0])}.")
    step = column.step or Fraction(1)
    first, last = ceil(low / step), floor(high / step)
    listed = frozenset(value for value in column.values or () if low <= int(value) <= high)
    if first > last or (column.values is not None and not listed):
        raise bad(where, "must hold a value of the column", given, "Widen the range, or leave the combination out.")
    return Members(listed) if listed else Members(ranges=((first * step, (last + 1) * step),))


def _number(column: Column, given: Any, where: str) -> Fraction:
    """A value of an ordered column as a number, days or seconds; refused outside of the bounds."""
    _require_scalar(given, where)
    low, high = column.bounds or (0, 110)
    number = number_of(parse_value(given, column.type, where, f"Write, for example: {_pair(low, high)}"))
    if column.bounds is not None and not number_of(low) <= number <= number_of(high):
        rule = f"must lie within the bounds {toml_value(column.bounds)}"
        raise bad(where, rule, given, f"Write the end that the column has, as in {_pair(low, high)}.")
    return number


def _require_scalar(given: Any, where: str) -> None:
    if not isinstance(given, _SCALARS):
        raise bad(where, "must be a value, a list of values, a range (low, high) or None", given, "Write one of them.")


def _pair(low: Any, high: Any) -> str:
    return f"({_text(low)}, {_text(high)})"


def _text(value: Any) -> str:
    """The value as Python reads it back; a date as its text."""
    if isinstance(value, date):
        return f'"{value.isoformat()}"'
    return str(value) if isinstance(value, bool) or value is None else toml_value(value)
