"""The groups of a question: public ones, all of them known before a row is read, or private ones that are selected."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, prod
from typing import Any

import numpy as np

from discreet.errors import NotAnswerable, quoted
from discreet.ndarrays import Ints
from discreet.query.meaning import dates
from discreet.query.meaning.domain import Domain, domain
from discreet.query.nodes import Bins, Col, Constant, Expr, Key, Question
from discreet.schema import Column, Null, Schema, Type
from discreet.schema.words import written

MOST_POINTS = 10_000  # of a lattice whose every point is a key
MOST_CELLS = 10**6

Label = Constant | str


@dataclass(frozen=True)
class KeyCells:
    """What is grouped by and the labels of its groups, in public order; None where its values are private.

    `with_null`: an empty cell is a group of its own, labelled None and last.  `type` and `step` say how private values
    are shown: value = steps · step.
    """

    key: Key
    labels: tuple[Label, ...] | None
    with_null: bool = False
    type: Type = Type.TEXT
    step: Fraction = Fraction(1)

    def label(self, stored: Any) -> Label:
        """How a stored private value, or the place of a public one, is shown."""
        if stored is None:
            return None
        if self.labels is not None:
            return self.labels[int(stored)]
        match self.type:
            case Type.TEXT | Type.CATEGORY:
                return str(stored)
            case Type.DATE:
                return dates.day(int(stored) * int(self.step))
            case Type.DATETIME:
                return dates.moment(int(stored) * int(self.step))
            case _ if isinstance(stored, float):
                return dates.whole(Fraction(repr(stored)))
            case _:
                return dates.whole(int(stored) * self.step)


@dataclass(frozen=True)
class Cells:
    """All groups, row-major over the keys; `kept` are those that stay, where WHERE leaves some out by its own words.

    >>> Cells((KeyCells(Key("a", Col("a")), (1, 2)), KeyCells(Key("b", Col("b")), ("x", "y", "z")))).labels(4)
    (2, 'y')
    """

    keys: tuple[KeyCells, ...]
    kept: tuple[int, ...] | None = None

    @property
    def public(self) -> bool:
        """Whether every group is known beforehand; without keys the whole table is the one group."""
        return all(key.labels is not None for key in self.keys)

    @property
    def size(self) -> int:
        """How many public groups there are."""
        return prod(self.sizes) if self.kept is None else len(self.kept)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Labels of each public key."""
        return tuple(len(key.labels) for key in self.keys if key.labels is not None)

    def labels(self, cell: int) -> tuple[Label, ...]:
        """The labels of one public group."""
        place = cell if self.kept is None else self.kept[cell]
        found: list[Label] = []
        for key in reversed(self.keys):
            if key.labels is None:
                raise ValueError("private groups have no labels before they are selected")
            place, own = divmod(place, len(key.labels))
            found.append(key.labels[own])
        return tuple(reversed(found))

    @property
    def all_labels(self) -> "AllLabels":
        """The labels of all public groups, made one by one when they are looked at."""
        return AllLabels(self)

    def numbers(self, places: Ints) -> Ints:
        """Which group each row-major place is; −1 for one that does not stay."""
        if self.kept is None:
            return places
        number = np.full(prod(self.sizes), -1, dtype=np.int64)
        number[list(self.kept)] = np.arange(len(self.kept))
        return number[places]


@dataclass(frozen=True)
class AllLabels(Sequence[tuple[Label, ...]]):
    """The labels of all public groups: of a million groups they would take 69 MiB at once."""

    cells: Cells

    def __len__(self) -> int:
        return self.cells.size

    def __getitem__(self, cell: Any) -> Any:
        return self.cells.labels(range(len(self))[cell])

    def __iter__(self) -> Iterator[tuple[Label, ...]]:
        if self.cells.kept is not None:
            return map(self.cells.labels, range(len(self)))
        return product(*(key.labels for key in self.cells.keys if key.labels is not None))


def cells(question: Question, schema: Schema, most: int = MOST_CELLS) -> Cells:
    """The groups of a resolved question.

    Public are values, booleans, bins, lattices of at most 10,000 points, date parts and CASE between constants; other
    columns are private keys.  More than `most` groups are refused.
    """
    found = Cells(tuple(_key(key, schema) for key in question.keys))
    for one in found.keys:
        _require_apart(one)
    if found.size > most:
        largest = max((key for key in found.keys if key.labels), key=lambda key: len(key.labels or ()))
        why = f"All public groups appear in an answer, and {found.size:,} are more than {most:,}."
        fix = f"Group by fewer keys, or put {largest.key.name} ({len(largest.labels or ()):,} groups) into bins."
        raise NotAnswerable("There are too many groups.", why, fix)
    return found


def _require_apart(key: KeyCells) -> None:
    """Refuses labels of which two would be shown alike: whoever reads the answer takes them for one group."""
    if key.type is Type.TEXT and len(set(key.labels or ())) == len(key.labels or ()):
        return
    shown: set[Any] = set()
    for label in key.labels or ():
        here = _double(label) if isinstance(label, Fraction) or _wide(label) else label
        if here in shown or (label is None and not key.with_null):
            what = f"Two groups of {key.key.name} would both be called {quoted(here)}."
            why = "Groups are told apart by their labels."
            raise NotAnswerable(what, why, f"Group by coarser values of {key.key.name}, such as bins.")
        shown.add(here)


def _wide(label: Label) -> bool:
    """Whether an integer is shown as a float, for JSON carries no more than 64 bits."""
    return isinstance(label, int) and not -(2**63) <= label < 2**63


def _double(label: Any) -> Any:
    try:
        return float(label)
    except OverflowError:
        return label


def _key(key: Key, schema: Schema) -> KeyCells:
    if isinstance(key.item, Bins):
        return KeyCells(key, bin_labels(key.item))
    column = schema.find(key.item.name) if isinstance(key.item, Col) else None
    with_null = column is not None and column.null is Null.KEY
    known = domain(key.item, schema)
    labels = _labels(key.item, known, column)
    if labels is not None:
        return KeyCells(key, (*labels, None) if with_null else labels, with_null, known.type)
    if known.type is Type.NUMBER and column is None:
        why = "Nearly every row would have a group of its own."
        raise NotAnswerable(f"{key.name} is a computed number.", why, "Group by FLOOR(…) of it, or by bins.")
    return KeyCells(key, None, with_null, known.type, (column.step if column is not None else None) or Fraction(1))


def _labels(item: Expr, known: Domain, column: Column | None) -> tuple[Label, ...] | None:
    """The public values of a key, or None."""
    if known.values is not None:
        return known.values
    exact = column is not None or known.type is not Type.NUMBER
    if known.interval is None or known.step is None or not exact or known.type is Type.TEXT:
        return None
    low, high = ends_in_steps(known)
    if not 0 <= high - low < MOST_POINTS:
        return None
    shown = _shown(known.type)
    return tuple(shown(steps * known.step) for steps in range(low, high + 1))


def ends_in_steps(known: Domain) -> tuple[int, int]:
    """First and last multiple of the step within the interval."""
    if known.interval is None or known.step is None:
        raise ValueError("only bounded numbers with a step have ends")
    return ceil(known.interval[0] / known.step), floor(known.interval[1] / known.step)


def _shown(kind: Type) -> Callable[[Fraction], Label]:
    match kind:
        case Type.DATE:
            return lambda days: dates.day(int(days))
        case Type.DATETIME:
            return lambda seconds: dates.moment(int(seconds))
        case _:
            return dates.whole


def bin_labels(bins: Bins) -> tuple[str, ...]:
    """The bins as they are shown, the last one closed.

    >>> bin_labels(Bins(Col("age"), (Fraction(0), Fraction(18), Fraction(65))))
    ('[0, 18)', '[18, 65]')
    """
    if bins.edges is None:
        raise ValueError("bins of a resolved question have edges")
    pairs = list(pairwise(edge.isoformat() if isinstance(edge, date) else _number(edge) for edge in bins.edges))
    return tuple(f"[{low}, {high}{']' if place == len(pairs) - 1 else ')'}" for place, (low, high) in enumerate(pairs))


def _number(edge: Fraction) -> str:
    return written(edge).strip('"')
