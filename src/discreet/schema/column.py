"""A column's public facts, and the lattice its numbers lie on: value = steps · step."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from discreet import amounts
from discreet.schema.kind import LISTED, ORDERED, SYNONYMS, Type, Value, number_of, parse_value
from discreet.schema.words import choice, first_twice, flag, key, name, number, refusal, text, toml_value

LARGEST = 2**62  # rows · |bound| in steps: what one unit can add to a sum
# What doubles carry with room to spare: 10⁹ rows of each of 10¹² units add up to 10³⁰¹, a cell over a step is normal.
FURTHEST = Fraction(10) ** 280
FINEST = Fraction(10) ** -300
COARSE_STEP = Fraction(1)  # of a step that nobody declared: from here on it loses more than digits behind the point
MOST_VALUES = 10**6
RESERVED_ENDING = "_moe"  # the ± that an answer puts beside each of its columns
RESERVED_NAMES = ("rowid",)  # the engine's own
RESERVED_START = "discreet_"  # the prepared table's own


class Null(StrEnum):
    """What happens to an empty cell in a grouping: it belongs to no group, or to one of its own."""

    DROP = "drop"
    KEY = "key"


class Empty(StrEnum):
    """What a text of no characters is in a category or text column: a value like others, or an empty cell."""

    VALUE = "value"
    NULL = "null"


_EXAMPLE = {
    Type.INTEGER: "[0, 110]",
    Type.NUMBER: "[0, 5000]",
    Type.DATE: "[2020-01-01, 2029-12-31]",
    Type.DATETIME: "[2020-01-01T00:00:00, 2029-12-31T23:59:59]",
}


@dataclass(frozen=True)
class Lattice:
    """The integers `low … high`, each meaning that many steps.

    >>> Lattice(0, 110, Fraction(1)).points
    111
    """

    low: int
    high: int
    step: Fraction

    @property
    def points(self) -> int:
        """How many grid points there are."""
        return self.high - self.low + 1

    @property
    def largest(self) -> int:
        """The furthest any clamped value is from 0: max(|low|, |high|)."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True)
class Column:
    """One public column.  `step` is filled in: 1 for integers, days and seconds, else `amounts.default_step`.

    >>> Column("age", "integer", bounds=(0, 110)).lattice
    Lattice(low=0, high=110, step=Fraction(1, 1))
    """

    name: str
    type: Type
    bounds: tuple[Value, Value] | None = None
    values: tuple[str | int, ...] | None = None
    step: Fraction | None = None
    bins: tuple[Value, ...] | None = None
    why_public: str | None = None
    fixed_per_unit: bool = False
    null: Null = Null.DROP
    empty: Empty = Empty.VALUE

    def __post_init__(self) -> None:
        self._set("name", _column_name(self.name))
        self._set("type", Type(choice(self.type, self.key("type"), tuple(Type), SYNONYMS)))
        self._set("empty", _empty(self))
        self._set("bounds", _bounds(self))
        self._set("values", _values(self))
        self._set("step", _step(self))
        _require_fine(self)
        self._set("bins", _bins(self))
        self._set("fixed_per_unit", flag(self.fixed_per_unit, self.key("fixed_per_unit")))
        self._set("null", Null(choice(self.null, self.key("null"), tuple(Null))))
        if self.why_public is not None:
            fix = 'Write, with the source in place of …: why_public = "…"'
            self._set("why_public", name(self.why_public, self.key("why_public"), fix))
        require_room(self, 1)
        _require_dates(self)

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def key(self, field: str) -> str:
        """The dotted key of that field in the TOML."""
        return key("columns", self.name, field)

    @cached_property
    def lattice(self) -> Lattice | None:
        """The bounds in steps, rounded outward; None without bounds.

        A boolean is 0 or 1, and integers with `values` need no bounds: every other cell counts as empty.
        """
        if self.type is Type.BOOLEAN:
            return Lattice(0, 1, Fraction(1))
        if self.type is Type.INTEGER and self.bounds is None and self.values is not None:
            listed = [int(value) for value in self.values]
            return Lattice(min(listed), max(listed), Fraction(1))
        if self.bounds is None or self.step is None:
            return None
        low, high = (number_of(end) for end in self.bounds)
        return Lattice(amounts.steps_down(low, self.step), amounts.steps_up(high, self.step), self.step)


def default_step(column: Column) -> Fraction | None:
    """The step of a column that declares none."""
    if column.bounds is None:
        return None
    if column.type is not Type.NUMBER:
        return Fraction(1)
    low, high = (number_of(end) for end in column.bounds)
    return amounts.default_step(low, high)


def has_undeclared_step(column: Column, least: Fraction = Fraction(0)) -> bool:
    """Whether a number is read in steps that follow from its bounds alone, and that are at least so wide."""
    step = column.step if column.type is Type.NUMBER else None
    return step is not None and step == default_step(column) and step >= least


def require_room(column: Column, rows: int) -> None:
    """Refuses a lattice on which `rows` rows of one unit could pass 2⁶² steps."""
    lattice = column.lattice
    if lattice is None or lattice.largest * rows <= LARGEST:
        return
    rule = f"must keep {rows} row{'s' * (rows > 1)} of one unit within 2^62 steps of {toml_value(lattice.step)}"
    if column.bounds is None:
        fix = 'For codes that nobody adds up write: type = "category"'
        raise refusal(column.key("values"), rule, column.values, fix)
    low, high = (number_of(end) for end in column.bounds)
    # rounding outward may add a step, hence LARGEST − rows and the factor 2
    coarser = 2 * amounts.power_of_two_below(max(abs(low), abs(high)) * rows / (LARGEST - rows))
    fix = "Store the column as a distance from a public middle value."
    if coarser <= high - low:
        fix = f"Write: step = {toml_value(coarser)}"
    raise refusal(column.key("bounds"), rule, column.bounds, fix)


def _require_dates(column: Column) -> None:
    """Refuses a lattice of dates with an end, rounded outward, that is no date: it would be a group without a name."""
    if column.type not in (Type.DATE, Type.DATETIME) or column.lattice is None:
        return
    day = 1 if column.type is Type.DATE else 86_400
    first, last = number_of(date.min) * day, (number_of(date.max) + 1) * day
    lattice = column.lattice
    if first <= lattice.low * lattice.step and lattice.high * lattice.step < last:
        return
    rule = f"must keep the bounds, rounded outward to whole steps, within {date.min} and {date.max}"
    raise refusal(column.key("step"), rule, column.step, "Write: step = 1, or bounds further within.")


def is_reserved(name: str) -> bool:
    """Whether an answer or the engine needs this name for itself."""
    folded = name.casefold()
    return folded.endswith(RESERVED_ENDING) or folded.startswith(RESERVED_START) or folded in RESERVED_NAMES


def _column_name(given: Any) -> str:
    where = "columns" if not isinstance(given, str) else key("columns", given)
    named = name(given, where, "Write, for example: [columns.age]")
    if is_reserved(named):
        rule = (
            f"must not end in {RESERVED_ENDING}, begin with {RESERVED_START} or be rowid: Discreet writes those itself"
        )
        raise refusal(where, rule, named, "Rename the column in the source, then here.")
    return named


def _empty(column: Column) -> Empty:
    empty = Empty(choice(column.empty, column.key("empty"), tuple(Empty)))
    if empty is Empty.NULL and column.type not in (Type.CATEGORY, Type.TEXT):
        rule = f"must be left out of a {column.type} column; an empty text is an empty cell there anyway"
        raise refusal(column.key("empty"), rule, str(empty), "Remove it.")
    return empty


def _bounds(column: Column) -> tuple[Value, Value] | None:
    if column.bounds is None:
        return None
    where = column.key("bounds")
    if column.type not in ORDERED:
        rule = f"must be left out of a {column.type} column; it has no order"
        raise refusal(where, rule, column.bounds, "Remove the bounds, or give a type such as integer.")
    fix = f"Write, for example: bounds = {_EXAMPLE[column.type]}"
    if not isinstance(column.bounds, (list, tuple)) or len(column.bounds) != 2:
        raise refusal(where, "must be a pair [low, high]", column.bounds, fix)
    low, high = (parse_value(end, column.type, where, fix) for end in column.bounds)
    if not number_of(low) < number_of(high):
        swapped = f"Write: bounds = {toml_value((high, low))}" if low != high else fix
        raise refusal(where, "must have the upper end above the lower", column.bounds, swapped)
    for end in (low, high):
        _require_near(column, end, where, column.bounds)
    return low, high


def _require_near(column: Column, value: Value, where: str, given: Any) -> None:
    """Refuses a number that, added up, would leave the engine's doubles."""
    if abs(number_of(value)) > FURTHEST:
        rule, fix = "must hold numbers of at most 1e280 in size", "Store the column in a larger unit, and write: bounds"
        raise refusal(where, rule, given, f"{fix} = {_EXAMPLE[column.type]}")


def _require_fine(column: Column) -> None:
    """Refuses a lattice whose step is no normal double."""
    if column.step is not None and column.step < FINEST:
        named = f"step = {amounts.text_of(column.step)}"
        rule = f"must be wide enough for a step of at least 1e-300, not {named}"
        fix = "Store the column in a smaller unit, and write: bounds = [0, 5000]"
        raise refusal(column.key("bounds"), rule, column.bounds, fix)


def _values(column: Column) -> tuple[str | int, ...] | None:
    given, where = column.values, column.key("values")
    if given is None:
        return None
    if column.type not in LISTED:
        reason = "it has two already" if column.type is Type.BOOLEAN else "its keys are bins"
        fix = "Remove the values." if column.type is Type.BOOLEAN else 'Use bounds and bins, or type = "category".'
        raise refusal(where, f"must be left out of a {column.type} column; {reason}", given, fix)
    fix = "Write: values = [1, 2, 3]" if column.type is Type.INTEGER else 'Write: values = ["north", "south"]'
    if not isinstance(given, (list, tuple)) or not 0 < len(given) <= MOST_VALUES:
        raise refusal(where, f"must be a list of 1 to {MOST_VALUES} values", given, fix)
    listed = tuple(_listed_value(item, column, where, fix) for item in given)
    twice = first_twice(listed)
    if twice is not None:
        raise refusal(where, "must be different from each other", twice, f"Write {toml_value(twice)} once.")
    return listed


def _listed_value(item: Any, column: Column, where: str, fix: str) -> str | int:
    if column.type is not Type.INTEGER:
        if not isinstance(item, (str, bool)):
            fix = f"Write the values in quotes: values = [{toml_value(toml_value(item))}]"
        if item == "" and column.empty is Empty.VALUE:
            return ""
        return text(item, where, fix)
    whole = number_of(parse_value(item, Type.INTEGER, where, fix))
    if column.bounds is not None and not number_of(column.bounds[0]) <= whole <= number_of(column.bounds[1]):
        raise refusal(where, "must lie within the bounds", whole, "Widen the bounds, or remove the value.")
    return int(whole)


def _step(column: Column) -> Fraction | None:
    if column.step is None:
        return default_step(column)
    where, fix = column.key("step"), "Write, for example: step = 1"
    if column.bounds is None:
        kind = "Remove the step" if column.type not in ORDERED else "Add bounds"
        raise refusal(where, "must come with bounds", column.step, f"{kind}, or write: bounds = [0, 110]")
    step = number(column.step, where, "must be a positive number", fix)
    if step <= 0:
        raise refusal(where, "must be a positive number", column.step, fix)
    if column.type is not Type.NUMBER and step.denominator != 1:
        unit = {Type.DATE: "days", Type.DATETIME: "seconds"}.get(column.type, "integers")
        raise refusal(where, f"must be a whole number of {unit}", column.step, fix)
    low, high = (number_of(end) for end in column.bounds)
    if step > high - low:
        rule = f"must be at most the width of the bounds, {toml_value(high - low)}"
        raise refusal(where, rule, column.step, f"Write: step = {toml_value(default_step(column))}, or leave it out.")
    off = [value for value in column.values or () if isinstance(value, int) and value % step]
    if off:
        rule = f"must divide every one of the values; {off[0]} lies between two steps"
        raise refusal(where, rule, column.step, "Write: step = 1, or leave it out.")
    return step


def _bins(column: Column) -> tuple[Value, ...] | None:
    given, where = column.bins, column.key("bins")
    if given is None:
        return None
    if column.type not in ORDERED:
        rule = f"must be left out of a {column.type} column; its keys are its values"
        raise refusal(where, rule, given, "Remove the bins.")
    fix = "Write the edges of the bins, for example: bins = [0, 18, 65, 110]"
    if not isinstance(given, (list, tuple)) or not 2 <= len(given) <= MOST_VALUES:
        raise refusal(where, f"must be a list of 2 to {MOST_VALUES} edges", given, fix)
    edges = tuple(parse_value(edge, column.type, where, fix) for edge in given)
    for edge in edges:
        _require_near(column, edge, where, given)
    places = [number_of(edge) for edge in edges]
    if any(left >= right for left, right in pairwise(places)):
        ordered = toml_value(tuple(sorted(set(edges), key=number_of)))
        raise refusal(where, "must increase from edge to edge", given, f"Write: bins = {ordered}")
    if column.bounds is not None:
        low, high = (number_of(end) for end in column.bounds)
        if places[0] < low or places[-1] > high:
            rule = f"must lie within the bounds {toml_value(column.bounds)}"
            raise refusal(where, rule, given, "Widen the bounds, or move the outer edges inside them.")
    return edges
