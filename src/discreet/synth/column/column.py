"""A column of a table as fine cells: public facts alone, one cell for each value or bin and one for the empty cell.

    categories, listed values, booleans    one cell for each
    numbers, dates, moments                the declared bins; without them one cell for each of at most 256 points of
                                           the lattice, or 256 bins by the rule of models (`learn.input.column`)

Declared bins that end within the bounds get a cell on either side for what lies beyond, so that no number counts as
empty.  `cuts` are further edges, where a rule about impossible cells divides the range.  Kernels are told of edges
halfway between two points of the lattice, so that no last digit of a double decides which cell a number is in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from discreet import amounts
from discreet.learn.input.column import ModelColumn
from discreet.ndarrays import Ints
from discreet.schema import Column, Type
from discreet.schema.kind import ORDERED, number_of
from discreet.schema.words import toml_value
from discreet.synth.column.obstacle import require_cells

MOST_FINE = 256  # cells of a number without declared bins
EMPTY = "empty"
_LONGEST_EDGE, _EDGE_DIGITS = 8, 4  # letters of an edge as it is; significant digits of a longer one
_EPOCH = datetime(1970, 1, 1)
_BEYOND = Fraction(3, 2)  # steps: bounds that lie between two points of the lattice are rounded outward by a table

Listed = str | int | bool


@dataclass(frozen=True)
class SynthColumn:
    """The fine cells of a column: its public values, or the edges of bins over its lattice, the last bin closed.

    Edges are numbers, days or seconds since 1970.  The code `cells` is the empty cell.

    >>> age = synth_column(Column("age", "integer", bounds=(0, 110), bins=(0, 18, 65, 110)))
    >>> age.cells, [age.label(code) for code in range(4)], age.described
    (3, ['[0, 18)', '[18, 65)', '[65, 110]', 'empty'], {'edges': [-1.5, 17.5, 64.5, 111.5]})
    """

    name: str
    type: Type
    values: tuple[Listed, ...] | None = None
    edges: tuple[Fraction, ...] | None = None
    step: Fraction = Fraction(1)
    is_person: bool = False  # the same in all rows of one unit

    def __post_init__(self) -> None:
        if (self.values is None) == (self.edges is None):
            raise ValueError("a column has values or edges")
        if self.edges is not None and (len(self.edges) < 2 or (np.diff(self.starts) < 1).any()):
            raise ValueError("every bin holds a point of the lattice")

    @property
    def cells(self) -> int:
        """How many fine cells there are, without the empty one."""
        return len(self.values) if self.values is not None else len(self._ends) - 1

    @cached_property
    def is_ordered(self) -> bool:
        """Whether neighbouring cells are neighbours in size: numbers, dates, moments, and listed integers that grow."""
        if self.values is None:
            return True
        is_growing = all(low < high for low, high in pairwise(self.values))  # type: ignore[operator]  # of one type
        return self.type in ORDERED and is_growing

    @property
    def _ends(self) -> tuple[Fraction, ...]:
        if self.edges is None:
            raise ValueError("a listed column has no edges")
        return self.edges

    @cached_property
    def starts(self) -> Ints:
        """The first point of the lattice in each bin, in steps, and behind the last bin the one that would follow."""
        inner = [amounts.steps_up(edge, self.step) for edge in self._ends[:-1]]
        return np.array([*inner, amounts.steps_down(self._ends[-1], self.step) + 1], dtype=np.int64)

    @cached_property
    def described(self) -> dict[str, Any]:
        """The fine cells, as a kernel is told of them (`kernel.encode`)."""
        if self.values is not None:
            is_coded = self.type in (Type.CATEGORY, Type.TEXT)
            return {"size": self.cells} if is_coded else {"values": [float(value) for value in self.values]}
        first, *inner, end = (Fraction(int(start)) for start in self.starts)
        halfway = [first - _BEYOND, *(start - Fraction(1, 2) for start in inner), end - 1 + _BEYOND]
        return {"edges": [float(edge * self.step) for edge in halfway]}

    def label(self, code: int) -> str:
        """What people read for the cell with that code."""
        if code == self.cells:
            return EMPTY
        if self.values is not None:
            value = self.values[code]
            is_plain = isinstance(value, str) and value not in ("", EMPTY)
            return str(value) if is_plain else toml_value(value)
        first, end = (int(start) for start in self.starts[code : code + 2])
        if end - first == 1:
            return measure_text(first * self.step, self.type)
        low, high = _edge_texts(self._ends[code], self._ends[code + 1], self.type)
        return f"[{low}, {high}{']' if code == self.cells - 1 else ')'}"

    def to_json(self) -> dict[str, Any]:
        """Its public facts."""
        facts: dict[str, Any] = {"name": self.name, "type": str(self.type), "person": self.is_person}
        if self.values is not None:
            return facts | {"values": list(self.values)}
        return facts | {"edges": [str(edge) for edge in self._ends], "step": str(self.step)}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "SynthColumn":
        """The column with those facts."""
        name, kind, is_person = str(facts["name"]), Type(facts["type"]), bool(facts["person"])
        if "values" in facts:
            return cls(name, kind, tuple(facts["values"]), is_person=is_person)
        edges, step = tuple(map(Fraction, facts["edges"])), Fraction(facts["step"])
        return cls(name, kind, edges=edges, step=step, is_person=is_person)


def measure_text(measure: Fraction, kind: Type) -> str:
    """A number as people write it; days and seconds since 1970 as the date or moment that they mean."""
    if kind is Type.DATE:
        return date.fromordinal(_EPOCH.toordinal() + int(measure)).isoformat()
    if kind is Type.DATETIME:
        return (_EPOCH + timedelta(microseconds=int(measure * 10**6))).isoformat()
    return toml_value(measure).strip('"')


def _edge_texts(low: Fraction, high: Fraction, kind: Type) -> tuple[str, str]:
    """The edges of a bin; those of many digits, as even bins have, in so few that they still differ, at least four."""
    texts = measure_text(low, kind), measure_text(high, kind)
    if kind is not Type.NUMBER or max(map(len, texts)) <= _LONGEST_EDGE:
        return texts
    for digits in range(_EDGE_DIGITS, 17):
        rounded = [_rounded(edge, digits) for edge in (low, high)]
        if rounded[0] != rounded[1]:
            break
    return measure_text(rounded[0], kind), measure_text(rounded[1], kind)


def _rounded(edge: Fraction, digits: int) -> Fraction:
    return Fraction(f"{float(edge):.{digits}g}")


def synth_column(column: Column, cuts: Iterable[Fraction] = ()) -> SynthColumn:
    """The column as fine cells, its range cut at `cuts` too; refused where it has no public cells, or too many."""
    require_cells(column)
    if column.type is Type.BOOLEAN:
        return SynthColumn(column.name, column.type, (False, True), is_person=column.fixed_per_unit)
    if column.values is not None:
        return SynthColumn(column.name, column.type, column.values, is_person=column.fixed_per_unit)
    if column.bounds is None or column.step is None:
        raise ValueError("a column without values has bounds")
    edges = _edges(column, column.step, cuts)
    return SynthColumn(column.name, column.type, edges=edges, step=column.step, is_person=column.fixed_per_unit)


def _edges(column: Column, step: Fraction, cuts: Iterable[Fraction]) -> tuple[Fraction, ...]:
    """The edges of the fine bins; an edge divides points of the lattice, or is left out."""
    low, high = (number_of(end) for end in column.bounds or ())
    first, last = amounts.steps_up(low, step), amounts.steps_down(high, step)
    if column.bins is None:
        *inner, closing = low, *_even_edges(column.type, first, last, step), high
    else:
        *inner, closing = map(number_of, column.bins)
    by_start = {amounts.steps_up(edge, step): edge for edge in inner}  # of two bins, one without a point goes
    by_start.setdefault(first, low)
    beyond = amounts.steps_down(closing, step) + 1
    if beyond <= last:
        by_start.setdefault(beyond, beyond * step)
        closing = high
    for cut in cuts:
        by_start.setdefault(amounts.steps_up(cut, step), cut)
    return (*(by_start[start] for start in sorted(by_start) if first <= start <= last), closing)


def _even_edges(kind: Type, first: int, last: int, step: Fraction) -> list[Fraction]:
    """The edges between bins by the rule of models; only numbers can begin at 0, where bins grow with the number."""
    shift = 0 if kind in (Type.INTEGER, Type.NUMBER) else (first - 1) * step
    bounds = first * step - shift, last * step - shift
    return [edge + shift for edge in ModelColumn("", "", bounds=bounds, step=step).edges(MOST_FINE)[1:-1]]
