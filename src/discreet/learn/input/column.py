"""Columns of a table as what a model learns from: public facts alone, and how cells and numbers are made of them.

    categories   columns with public values, booleans: one cell for each value
    numbers      columns with bounds: a number scaled by its bounds, or the bin it lies in

Bins are cut from the bounds: one for each value where there are few, else evenly, and evenly in ln(1 + x) where the
bounds begin at 0, for amounts and counts have most of their mass there.  A number that is not binned is scaled evenly
to −1 … 1, and in a classifier to 0 … 1 by its logarithm where its range is long (`is_long`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from math import expm1, log1p
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import BadValue, bad
from discreet.kernel.described import unchangeable
from discreet.kernel.encode import Feature
from discreet.learn.input.cells import cells_of, numbers_of, values_of
from discreet.ndarrays import Floats, Ints
from discreet.query.nodes import Bins, Col, Expr
from discreet.schema import Column, Type
from discreet.schema.kind import number_of

LONG = 1000
_DAY = 86_400
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class ModelColumn:
    """A column by the caller's name and by the table's, and its public values or its bounds.

    `step` is the lattice of the numbers; a missing number counts as the middle of the bounds.
    """

    name: str
    column: str
    values: tuple[Any, ...] | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    step: Fraction = Fraction(1)
    is_coded: bool = False  # the table stores places among the values, and not the values
    day: int = 0  # of a date 1, of a moment its 86,400 seconds, of a number 0

    @property
    def is_number(self) -> bool:
        """Whether it has bounds, and no list of values."""
        return self.values is None

    @property
    def low(self) -> Fraction:
        """The lower bound of a number."""
        return self._ends[0]

    @property
    def high(self) -> Fraction:
        """The upper bound of a number."""
        return self._ends[1]

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        if self.bounds is None:
            raise ValueError("a category has no bounds")
        return self.bounds

    @property
    def is_long(self) -> bool:
        """Whether a number is scaled by its logarithm: no value is negative, and the range is longer than 1,000."""
        return self.low >= 0 and self.high - self.low > LONG

    def edges(self, bins: int) -> tuple[Fraction, ...]:
        """The edges of at most so many bins, on the lattice, so that no bin is without a value."""
        return _edges(self.low, self.high, self.step, bins, self._beyond)

    @property
    def _beyond(self) -> Fraction:
        """How far beyond the last value its own bin ends, in steps: a date has none but whole ones."""
        return Fraction(1) if self.day else Fraction(1, 2)

    def cells(self, bins: int) -> int:
        """How many cells it has."""
        return len(self.values) if self.values is not None else len(self.edges(bins)) - 1

    def key(self, bins: int) -> Expr | Bins:
        """What a tally groups by."""
        if self.values is not None:
            return Col(self.column)
        edges = self.edges(bins)
        return Bins(Col(self.column), tuple(_time_of(edge, self.day) for edge in edges) if self.day else edges)

    def described_cells(self, bins: int) -> dict[str, Any]:
        """Its cells, as a kernel is told of them (`kernel.encode`)."""
        if self.values is None:
            return {"edges": _edge_numbers(self.low, self.high, self.step, bins, self._beyond)}
        return {"size": len(self.values)} if self.is_coded else {"values": [float(value) for value in self.values]}

    def described_number(self) -> dict[str, Any]:
        """Its number, scaled evenly, as a kernel is told of it; a category is told by its cells."""
        if self.values is not None:
            return self.described_cells(0)
        return {"low": float(self.low), "high": float(self.high)}

    def described_feature(self) -> dict[str, Any]:
        """The same as a feature of a classifier: a long range by its logarithm.

        A regression is linear in the number itself, and so is not told so.
        """
        middle = {"scale": "log", "missing": 0.5}  # of 0 … 1
        return self.described_number() | (middle if self.is_number and self.is_long else {})

    def encoded(self, cells: Any) -> Floats | Ints:
        """The cells of rows that are not behind the gate, as a kernel sees those of the table."""
        if self.values is None:
            return self._on_lattice(_moments(cells, self.day) if self.day else numbers_of(cells))
        if self.is_coded:
            places = {str(value): place for place, value in enumerate(self.values)}
            return np.array([places.get(value, -1) for value in values_of(cells, tuple(places))], dtype=np.int64)
        numbers, listed = numbers_of(cells), np.array([float(value) for value in self.values])
        if self.values != (False, True):
            numbers = np.floor(numbers + 0.5)  # as a table rounds to whole numbers
        return np.where(np.isin(numbers, listed), numbers, np.nan)

    def _on_lattice(self, numbers: Floats) -> Floats:
        """Numbers rounded to the step and clamped to the bounds, as the table's cells are."""
        top, bottom = float(self.step.numerator), float(self.step.denominator)
        low, high = float(self.low / self.step), float(self.high / self.step)
        with np.errstate(over="ignore", invalid="ignore"):
            steps: Floats = np.clip(np.floor(numbers * bottom / top + 0.5), low, high)
        return steps * top / bottom

    def codes(self, encoded: Floats | Ints, bins: int) -> Ints:
        """The cell of each encoded row; −1 for none."""
        return Feature.parse(self.described_cells(bins)).codes(encoded)

    def to_json(self) -> dict[str, Any]:
        """Its public facts."""
        if self.values is not None:
            return {"name": self.name, "column": self.column, "values": list(self.values), "coded": self.is_coded}
        ends = [str(self.low), str(self.high)]
        facts = {"name": self.name, "column": self.column, "bounds": ends, "step": str(self.step)}
        return facts | {"day": self.day} if self.day else facts

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "ModelColumn":
        """The column with those facts."""
        if "values" in facts:
            return cls(facts["name"], facts["column"], tuple(facts["values"]), is_coded=bool(facts["coded"]))
        low, high = map(Fraction, facts["bounds"])
        step, day = Fraction(facts["step"]), int(facts.get("day", 0))
        return cls(facts["name"], facts["column"], bounds=(low, high), step=step, day=day)


@lru_cache(maxsize=1024)  # a fit needs the edges of each feature in every pass
def _edges(low: Fraction, high: Fraction, step: Fraction, bins: int, beyond: Fraction) -> tuple[Fraction, ...]:
    first, last = int(low / step), int(high / step)
    points = last - first + 1
    count = min(bins, points)
    if low == 0 and points > bins:
        unit = float(max(step, Fraction(1)))
        span = log1p(float(high) / unit)
        places = [first + round(expm1(span * part / count) * unit / float(step)) for part in range(1, count)]
    else:
        places = [first + round(Fraction(points * part, count)) for part in range(1, count)]
    inner = sorted({first, *(place for place in places if first < place <= last)})
    end = Fraction(last) if inner[-1] < last else last + beyond  # the last value may be a bin of its own
    return tuple(place * step for place in (*map(Fraction, inner), end))


@lru_cache(maxsize=1024)
def _edge_numbers(low: Fraction, high: Fraction, step: Fraction, bins: int, beyond: Fraction) -> Floats:
    return unchangeable(np.array([float(edge) for edge in _edges(low, high, step, bins, beyond)]))


def _time_of(edge: Fraction, day: int) -> date | datetime:
    """The date or moment that lies so many days or seconds after 1970; the last of all where the calendar has none."""
    try:
        return _EPOCH.date() + timedelta(days=int(edge)) if day == 1 else _EPOCH + timedelta(seconds=int(edge))
    except OverflowError:
        return date.max if day == 1 else datetime.max.replace(microsecond=0)


def model_column(column: Column, name: str | None = None) -> ModelColumn:
    """The column of a table as a model takes it; refused where it has neither public values nor bounds."""
    shown = column.name if name is None else name
    if column.type is Type.BOOLEAN:
        return ModelColumn(shown, column.name, (False, True))
    if column.values is not None:
        return ModelColumn(shown, column.name, column.values, is_coded=column.type in (Type.CATEGORY, Type.TEXT))
    if column.bounds is None or column.step is None:
        raise _without_facts(shown, column)
    low, high = (number_of(end) for end in column.bounds)
    lattice = column.lattice
    if lattice is None or lattice.points < 2 or not low < high:
        raise bad(f"bounds of {shown!r}", "must be apart", column.bounds, "Widen them, or leave the column out.")
    day = {Type.DATE: 1, Type.DATETIME: _DAY}.get(column.type, 0)
    ends = lattice.low * lattice.step, lattice.high * lattice.step
    return ModelColumn(shown, column.name, bounds=ends, step=lattice.step, day=day)


def _without_facts(name: str, column: Column) -> BadValue:
    if column.type in (Type.CATEGORY, Type.TEXT):
        fix = 'Declare its public values: values = ["…"]. To learn them, ask for COUNT(*) by it, which is charged.'
        return bad(f"column {name!r}", "must have public values", str(column.type), fix)
    fix = "Declare its bounds, or ask for its quantiles first, which is charged, and declare those."
    return bad(f"column {name!r}", "must have public bounds", str(column.type), fix)


def _moments(cells: Any, day: int) -> Floats:
    """Dates and moments as days or seconds since 1970, by the length of a day; NaN for what is none."""
    is_moments = isinstance(cells, np.ndarray) and cells.dtype.kind == "M"
    moments = cells if is_moments else np.array([_moment(cell) for cell in cells_of(cells)], dtype="datetime64[s]")
    moments = moments.astype("datetime64[s]")
    seconds = moments.astype(np.int64) / (_DAY / day)
    return np.where(np.isnat(moments), np.nan, np.floor(seconds) if day == 1 else seconds)


def _moment(cell: Any) -> np.datetime64:
    """A date or moment, or a text that spells one; not-a-time for anything else."""
    try:
        return np.datetime64(cell, "s") if isinstance(cell, (str, date)) else np.datetime64("NaT", "s")
    except ValueError:
        return np.datetime64("NaT", "s")


def bins_of(count: Any) -> int:
    """A number of bins that a caller gave."""
    return amounts.count(count, "bins", 2, 1024)
