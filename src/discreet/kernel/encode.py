"""Rows as features of a model: codes of cells and whole numbers, so that every sum over them is exact in any order.

A feature is described by public values:

    {"size": 5}                            a category: one column of the design for each of its 5 values
    {"values": [0, 1, 2]}                  a number that takes listed values: one column for each
    {"edges": [0, 18, 65, 90]}             a number by its bin, the last bin closed: one column for each bin
    {… , "table": [0.5, -1, 2]}            one of these three, as one number: the table's entry for its cell
    {"low": 0, "high": 9, "missing": 0}    a number clamped to its bounds and scaled evenly to −1 … 1
    {"low": 0, "high": 9, "scale": "log"}  ln(1 + x − low)/ln(1 + high − low), from 0 to 1
Numbers lie within ± 2¹⁰ steps of 2⁻¹⁰ (a table's within ± 2¹³ steps), and the 1 of a cell is 2¹⁰ steps.  What is added
up over rows are whole numbers below 2⁵³, which doubles add exactly in any order, and x·w of a row is one sum in a fixed
order: what a row adds does not depend on where it lies.  An empty cell, or one without a code, has no column; an empty
number is `missing`, in scaled units.

`intercept` is the first column of every row, 1 unless another number is given and none where it is 0.  `centre` holds
whole steps that are taken off each column.  A unit counts with its first `rows` rows, of which each of k has the weight
1/k, and a row with its norm, centred and with the intercept, clipped to `norm`.  Proof page: docs/proofs/kernel.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor, sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.kernel.contract import Public
from discreet.kernel.crossed import Crossed, cross
from discreet.kernel.described import REMEMBERED, Described, description_of, unchangeable
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Floats, Ints
from discreet.schema import Column, Type

UNIT = 2**10  # steps of a feature's 1
MOST_ROWS = 2**10  # of a unit that count
_TABLE = 8  # the furthest entry of a table
FURTHEST_INTERCEPT = 32
_SHORT = 1 - 2.0**-20  # what doubles get wrong is far below the rest
_KEYS = {"size", "values", "edges", "table", "low", "high", "scale", "missing"}
_SCALES = ("even", "log")
MOST_FEATURES, MOST_CELLS = 2**9, 2**16
FURTHEST_BOUND = 1e100
EXACT_ROWS = 2**20  # of which 2³³ each add up to at most 2⁵³
_SHAPING = ("features", "intercept", "centre", "norm", "rows")


def root_up(square: int) -> Fraction:
    """√square in steps of a feature, rounded up: a norm that no row of so many 1 exceeds.

    >>> root_up(2) * UNIT
    Fraction(1449, 1)
    """
    return Fraction(int(sqrt(square) * UNIT) + 1, UNIT)


@dataclass(frozen=True, eq=False)
class Feature:
    """One column of a table as a feature: a column of the design for each of its cells, or one for a number."""

    size: int = 0  # of a category
    values: Floats | None = None
    edges: Floats | None = None
    table: Floats | None = None
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False
    missing: float = 0.0

    @classmethod
    def parse(cls, public: Any) -> "Feature":
        """From its description; refused where that has no meaning."""
        if not isinstance(public, Mapping) or not set(public) <= _KEYS:
            raise bad("feature", f"must be described by {', '.join(sorted(_KEYS))}", public, "Leave out the rest.")
        kinds = [kind for kind in ("size", "values", "edges", "low") if kind in public]
        if len(kinds) != 1:
            raise bad("feature", "must have one of size, values, edges and low", public, "Give one of them.")
        feature = _PARSERS[kinds[0]](public)
        if "table" in public and not feature.cells:
            raise bad("table", "must have cells to stand for", public, "Give size, values or edges beside it.")
        return feature

    @property
    def cells(self) -> int:
        """How many codes there are; 0 for a number."""
        if self.values is not None:
            return len(self.values)
        return self.size if self.edges is None else len(self.edges) - 1

    @property
    def width(self) -> int:
        """How many columns of the design it has."""
        return 1 if self.table is not None or not self.cells else self.cells

    @property
    def is_number(self) -> bool:
        """Whether it is one number of a row, and not a choice among columns."""
        return self.table is not None or not self.cells

    @property
    def largest(self) -> float:
        """The furthest its column, or the 1 of its cell, can be from 0."""
        if self.table is not None:
            return float(np.abs(self.table).max(initial=0.0))
        return 1.0

    def require(self, column: Column) -> None:
        """Refuses a column that it does not describe."""
        if self.size:
            is_listed = column.type in (Type.CATEGORY, Type.TEXT) and column.values is not None
            if not is_listed or len(column.values or ()) != self.size:
                raise bad(f"column {column.name!r}", f"must have {self.size} public values", str(column.type), "")
        elif column.type in (Type.CATEGORY, Type.TEXT):
            raise bad(f"column {column.name!r}", "must hold numbers", str(column.type), "Describe it by its size.")

    def codes(self, cells: Any) -> Ints:
        """The cell of each row; −1 where it has none."""
        if self.size:
            codes: Ints = np.where((cells >= 0) & (cells < self.size), cells, -1).astype(np.int64)
            return codes
        with np.errstate(invalid="ignore"):
            if self.values is not None:
                order = np.argsort(self.values)
                place = np.minimum(np.searchsorted(self.values[order], cells), self.cells - 1)
                return np.where(self.values[order][place] == cells, order[place], -1).astype(np.int64)
            edges = self.edges if self.edges is not None else np.zeros(0)
            place = np.minimum(np.searchsorted(edges, cells, side="right"), self.cells) - 1
            return np.where((cells >= edges[0]) & (cells <= edges[-1]), place, -1).astype(np.int64)

    def numbers(self, cells: Any) -> Floats:
        """The number of each row in whole steps."""
        if self.table is not None:
            entries: Floats = np.rint(np.append(self.table, 0.0) * UNIT)
            return np.take(entries, self.codes(cells), mode="wrap")  # −1 is the last
        with np.errstate(invalid="ignore"):
            inside = np.clip(cells, self.low, self.high) - self.low
            if self.is_log:
                steps = _log_steps(inside, self.high - self.low)
            else:
                steps = np.rint((inside / (self.high - self.low) * 2 - 1) * UNIT)
        return np.where(np.isnan(cells), np.rint(self.missing * UNIT), steps)


def _log_steps(inside: Floats, span: float) -> Floats:
    """ln(1 + x)/ln(1 + span) in steps, by comparing x with the places where a step begins: no library logarithm is
    applied to rows, for its last digit may depend on where in an array a number lies."""
    steps = np.arange(1, UNIT + 1)
    begins = np.expm1((steps - 0.5) / UNIT * np.log1p(span))
    return np.searchsorted(begins, inside, side="right").astype(np.float64)


def _category(public: Mapping[str, Any]) -> Feature:
    size = amounts.count(public["size"], "size", 1, MOST_CELLS)
    return Feature(size=size, table=_table(public, size))


def _values_feature(public: Mapping[str, Any]) -> Feature:
    values = _finite(public["values"], "values")
    if not 1 <= len(values) <= MOST_CELLS or len(np.unique(values)) != len(values):
        raise bad("values", f"must be 1 to {MOST_CELLS} different numbers", len(values), "Name each value once.")
    return Feature(values=values, table=_table(public, len(values)))


def _edges_feature(public: Mapping[str, Any]) -> Feature:
    edges = _finite(public["edges"], "edges")
    if not 2 <= len(edges) <= MOST_CELLS or not (np.diff(edges) > 0).all():
        raise bad("edges", f"must be 2 to {MOST_CELLS} growing numbers", len(edges), "Give them in order.")
    return Feature(edges=edges, table=_table(public, len(edges) - 1))


def _number(public: Mapping[str, Any]) -> Feature:
    ends = _finite([public["low"], public.get("high")], "bounds")
    scale, missing = public.get("scale", "even"), float(_finite([public.get("missing", 0)], "missing")[0])
    if not ends[0] < ends[1] or abs(missing) > 1:
        raise bad("bounds", "must be low < high, and missing within −1 and 1", ends.tolist(), "Widen them.")
    if np.abs(ends).max() > FURTHEST_BOUND:  # high − low would be no number
        raise bad("bounds", f"must lie within ± {FURTHEST_BOUND:g}", ends.tolist(), "Give them in another unit.")
    if scale not in _SCALES:
        raise bad("scale", "must be 'even' or 'log'", scale, "Leave it out for 'even'.")
    return Feature(low=float(ends[0]), high=float(ends[1]), is_log=scale == "log", missing=missing)


_PARSERS = {"size": _category, "values": _values_feature, "edges": _edges_feature, "low": _number}


def _table(public: Mapping[str, Any], cells: int) -> Floats | None:
    if "table" not in public:
        return None
    table = _finite(public["table"], "table")
    if len(table) != cells or (np.abs(table) > _TABLE).any():
        raise bad("table", f"must hold {cells} numbers within ± {_TABLE}", len(table), "Give one for each cell.")
    return table


def _finite(numbers: Any, name: str) -> Floats:
    try:
        parsed = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad(name, "must hold numbers", type(numbers).__name__, "Give finite numbers.") from None
    if parsed.ndim != 1 or not np.isfinite(parsed).all():
        raise bad(name, "must be a flat list of finite numbers", parsed.shape, "Give finite numbers.")
    return parsed


@dataclass(frozen=True, eq=False)
class Encoding:
    """Features side by side behind the intercept, what is taken off each column, and the norm a row is clipped to.

    Numbers are whole steps; an intercept of 0 is no column.
    """

    features: tuple[Feature, ...]
    intercept: int
    centre: Ints
    norm: int
    rows: int

    @classmethod
    def parse(cls, public: Public) -> "Encoding":
        """From the parameters `features`, `intercept`, `centre`, `norm` and `rows`."""
        return _encoding_of(Described.of(public, _SHAPING))

    @classmethod
    def _parse(cls, public: Public) -> "Encoding":
        described = public["features"]
        if not isinstance(described, list) or not 1 <= len(described) <= MOST_FEATURES:
            raise bad("features", f"must be a list of 1 to {MOST_FEATURES}", type(described).__name__, "List them.")
        features = tuple(map(Feature.parse, described))
        intercept = int(np.rint(_finite([public.get("intercept", 1)], "intercept")[0] * UNIT))
        if not 0 <= intercept <= FURTHEST_INTERCEPT * UNIT:
            raise bad("intercept", f"must lie within 0 and {FURTHEST_INTERCEPT}", intercept, "Leave it out for 1.")
        centre = _centre(public, (intercept > 0) + sum(feature.width for feature in features))
        norm = floor(amounts.positive(public["norm"], "norm") * UNIT)
        rows = amounts.count(public.get("rows", 1), "rows", 1, MOST_ROWS)
        encoding = cls(features, intercept, centre, norm, rows)
        if not encoding.longest / 128 <= norm <= 2**7 * UNIT:
            rule = "must be at most 128, and at least a 128th of the longest row"
            raise bad("norm", rule, public["norm"], f"Give, for example, {encoding.longest / UNIT:.3g}.")
        return encoding

    @property
    def first(self) -> int:
        """The column of the first feature."""
        return int(self.intercept > 0)

    @cached_property
    def longest(self) -> float:
        """A norm that no row passes, in steps."""
        plain = sum(feature.largest**2 for feature in self.features) * UNIT**2
        return sqrt(self.intercept**2 + plain) + sqrt(float((self.centre.astype(np.float64) ** 2).sum())) + 1

    @property
    def largest(self) -> int:
        """The furthest any column can be from 0, in steps."""
        features = floor(max(feature.largest for feature in self.features) * UNIT) + 1
        return max(self.intercept, features) + int(np.abs(self.centre).max())

    @property
    def width(self) -> int:
        """How many columns the design has."""
        return len(self.centre)

    @property
    def touched(self) -> int:
        """How many columns of one row are not 0 at most."""
        return self.width if self.centre.any() else self.first + len(self.features)

    def require(self, columns: Sequence[Column]) -> None:
        """Refuses columns that the features do not describe."""
        if len(columns) != len(self.features):
            rule = f"must be {len(self.features)}, one for each feature"
            raise bad("columns", rule, [column.name for column in columns], "Name as many columns as features.")
        for feature, column in zip(self.features, columns, strict=True):
            feature.require(column)


def _centre(public: Public, width: int) -> Ints:
    centre = public.get("centre")
    if centre is None:
        return np.zeros(width, dtype=np.int64)
    if type(centre) is not np.ndarray or centre.dtype != np.int64 or centre.shape != (width,):
        rule = f"must be {width} whole numbers as int64"
        raise bad("centre", rule, getattr(centre, "shape", type(centre).__name__), "Give one a column, in steps.")
    if not within(centre, _TABLE * UNIT):
        raise bad("centre", f"must lie within ± {_TABLE}", "beyond", "Scale the features.")
    return unchangeable(centre)


@lru_cache(REMEMBERED)
def _encoding_of(described: Described) -> Encoding:
    return Encoding._parse(described.public)


def within(steps: Ints, furthest: int) -> bool:
    """Whether no number lies further from 0; the absolute value of the least int64 is negative, so it is not taken."""
    return -furthest <= int(steps.min()) and int(steps.max()) <= furthest


@dataclass(frozen=True, eq=False)
class Design:
    """Encoded rows: the cells of features as codes, the numbers of others, and what a row counts.

    `clipping` is what shortens a row to the norm, and `share` what a row counts of its unit, 0 where it does not count.
    """

    encoding: Encoding
    crossed: tuple[Crossed, ...]
    numbers: tuple[tuple[int, Floats], ...]
    clipping: Floats
    share: Floats

    @classmethod
    def of(cls, chunk: UnitRows, encoding: Encoding, columns: Sequence[str]) -> "Design":
        """The chunk's rows, encoded."""
        cells, numbers = list[tuple[int, int, Ints]](), list[tuple[int, Floats]]()
        off, first = encoding.centre.astype(np.float64), encoding.first
        squares = np.full(chunk.size, (encoding.intercept - off[0]) ** 2 if first else 0.0)
        for feature, name in zip(encoding.features, columns, strict=True):
            if feature.is_number:
                steps = feature.numbers(chunk.columns[name])
                numbers.append((first, steps))
                squares += np.square(steps - off[first])
            else:
                codes, own = feature.codes(chunk.columns[name]), off[first : first + feature.cells]
                cells.append((first, feature.cells, codes))
                squares += np.take(np.append(UNIT * (UNIT - 2 * own), 0.0) + (own * own).sum(), codes, mode="wrap")
            first += feature.width
        is_long = squares > float(encoding.norm) ** 2
        shortening = encoding.norm / np.sqrt(np.where(is_long, squares, 1.0)) * _SHORT
        clipping = np.where(is_long, shortening, 1.0)
        return cls(encoding, cross(cells), tuple(numbers), clipping, _shares(chunk, encoding.rows))

    @cached_property
    def weight(self) -> Floats:
        """What a row's slope is multiplied by."""
        return self.clipping * self.share

    def lines(self, weights: Ints) -> Floats:
        """x·w of each row before it is clipped, a whole number for whole weights."""
        steps, encoding = weights.astype(np.float64), self.encoding
        constant = (int(weights[0]) * encoding.intercept if encoding.first else 0) - int(weights @ encoding.centre)
        total = np.full(len(self.share), float(constant))
        for crossed in self.crossed:
            total += crossed.lines(steps * UNIT)
        for column, numbers in self.numbers:
            total += steps[column] * numbers
        return total

    def sums(self, factors: Floats) -> Ints:
        """Σ over rows of factor · x, for whole factors within 2¹⁸; a number for each column."""
        in_cells, whole = np.zeros(self.encoding.width), exact_sum(factors)
        for crossed in self.crossed:
            crossed.add_sums(factors, in_cells)
        total = in_cells.astype(np.int64) * UNIT
        if self.encoding.first:
            total[0] = whole * self.encoding.intercept
        for column, numbers in self.numbers:
            total[column] = exact_sum(factors * numbers)
        return total - whole * self.encoding.centre


def exact_sum(numbers: Floats) -> int:
    """Σ of whole numbers within 2³³: doubles are exact for EXACT_ROWS of them, in whatever order they are added."""
    return sum(int(numbers[first : first + EXACT_ROWS].sum()) for first in range(0, len(numbers), EXACT_ROWS))


def _shares(chunk: UnitRows, rows: int) -> Floats:
    """What each row counts of its unit: 1/k for the first k ≤ `rows` rows, a little less where k > 1."""
    if chunk.units == chunk.size:
        return np.ones(chunk.size)
    sizes = np.diff(chunk.starts, append=chunk.size)
    number = np.arange(chunk.size) - chunk.starts[chunk.unit_of_row]
    counted = np.minimum(sizes, rows)[chunk.unit_of_row]
    return np.where(number < rows, np.where(counted > 1, _SHORT / counted, 1.0), 0.0)


def design_of(chunk: UnitRows, public: Public, columns: Sequence[str]) -> Design:
    """The encoded chunk; a chunk that is passed over again remembers it."""
    description = description_of([{name: public.get(name) for name in _SHAPING}, list(columns)])
    remembered = chunk.remembered.get("design")
    if remembered is None or remembered[0] != description:
        chunk.remembered["design"] = remembered = (description, Design.of(chunk, Encoding.parse(public), columns))
    design: Design = remembered[1]
    return design
