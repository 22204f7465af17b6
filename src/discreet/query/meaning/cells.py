"""The groups of a question: public groups, known before a row is read, or private groups, selected with noise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, prod
from typing import Any

import numpy as np

from discreet.errors import NotAnswerable, short_text
from discreet.ndarrays import Ints
from discreet.query.meaning import dates
from discreet.query.meaning.domain import Domain, domain
from discreet.query.nodes import Bins, Col, Constant, Expr, Key, Question
from discreet.schema import Column, Null, Schema, Type
from discreet.schema.words import toml_value

MOST_POINTS = 10_000  # of a lattice whose every point is a key
MOST_CELLS = 10**6

Label = Constant | str


@dataclass(frozen=True)
class KeyCells:
    """One key and the labels of its groups, in public order; None if its values are private.

    `with_null`: an empty cell is a group of its own, labelled None and last.  `type` and `step` say how private values
    are shown: value = steps · step.
    """

    key: Key
    labels: tuple[Label, ...] | None
    with_null: bool = False
    type: Type = Type.TEXT
    step: Fraction = Fraction(1)

    def label(self, stored: Any) -> Label:
        """The label of a stored private value, or of the index of a public one."""
        if stored is None:
            return None
        if self.labels is not None:
            return self.labels[int(stored)]
        if self.type in (Type.TEXT, Type.CATEGORY):
            return str(stored)
        return _label(Fraction(repr(stored)) if isinstance(stored, float) else int(stored) * self.step, self.type)


@dataclass(frozen=True)
class Cells:
    """All groups, row-major over the keys; `kept` lists those that WHERE can fill, None if all.

    >>> Cells((KeyCells(Key("a", Col("a")), (1, 2)), KeyCells(Key("b", Col("b")), ("x", "y", "z")))).labels(4)
    (2, 'y')
    """

    keys: tuple[KeyCells, ...]
    kept: tuple[int, ...] | None = None

    @property
    def public(self) -> bool:
        """Whether every group is public; without keys the table is the only group."""
        return all(key.labels is not None for key in self.keys)

    @property
    def size(self) -> int:
        """The number of public groups."""
        return prod(self.sizes) if self.kept is None else len(self.kept)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of labels of each public key."""
        return tuple(len(key.labels) for key in self.keys if key.labels is not None)

    def labels(self, cell: int) -> tuple[Label, ...]:
        """The labels of one public group."""
        cell_index = cell if self.kept is None else self.kept[cell]
        labels: list[Label] = []
        for key in reversed(self.keys):
            if key.labels is None:
                raise ValueError("private groups have no labels before they are selected")
            cell_index, index = divmod(cell_index, len(key.labels))
            labels.append(key.labels[index])
        return tuple(reversed(labels))

    @property
    def all_labels(self) -> "AllLabels":
        """The labels of all public groups, made when they are read."""
        return AllLabels(self)

    def numbers(self, indices: Ints) -> Ints:
        """The number of the group at each row-major index; −1 if it is not kept."""
        if self.kept is None:
            return indices
        numbers = np.full(prod(self.sizes), -1, dtype=np.int64)
        numbers[list(self.kept)] = np.arange(len(self.kept))
        return numbers[indices]


@dataclass(frozen=True)
class AllLabels(Sequence[tuple[Label, ...]]):
    """The labels of all public groups, made one by one: those of a million groups would take 69 MiB."""

    cells: Cells

    def __len__(self) -> int:
        return self.cells.size

    def __getitem__(self, cell: Any) -> Any:
        return self.cells.labels(range(len(self))[cell])

    def __iter__(self) -> Iterator[tuple[Label, ...]]:
        if self.cells.kept is not None:
            return map(self.cells.labels, range(len(self)))
        return product(*(key.labels for key in self.cells.keys if key.labels is not None))


def cells(question: Question, schema: Schema, limit: int = MOST_CELLS) -> Cells:
    """The groups of a resolved question.

    Values, booleans, bins, lattices of at most 10,000 points, date parts and CASE between constants are public keys;
    other columns are private keys.  More than `limit` groups are refused.
    """
    groups = Cells(tuple(_key(key, schema) for key in question.keys))
    for key in groups.keys:
        _require_apart(key)
    if groups.size > limit:
        largest = max((key for key in groups.keys if key.labels), key=lambda key: len(key.labels or ()))
        why = f"All public groups appear in an answer, and {groups.size:,} are more than {limit:,}."
        fix = f"Group by fewer keys, or put {largest.key.name} ({len(largest.labels or ()):,} groups) into bins."
        raise NotAnswerable("There are too many groups.", why, fix)
    return groups


def _require_apart(key: KeyCells) -> None:
    """Refuses two labels that would be shown alike, because a reader would take them for one group."""
    if key.type is Type.TEXT and len(set(key.labels or ())) == len(key.labels or ()):
        return
    texts: set[Any] = set()
    for label in key.labels or ():
        text = _double(label) if isinstance(label, Fraction) or _wide(label) else label
        if text in texts or (label is None and not key.with_null):
            what = f"Two groups of {key.key.name} would both be called {short_text(text)}."
            why = "Groups are told apart by their labels."
            raise NotAnswerable(what, why, f"Group by coarser values of {key.key.name}, such as bins.")
        texts.add(text)


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
    facts = domain(key.item, schema)
    labels = _labels(key.item, facts, column)
    if labels is not None:
        return KeyCells(key, (*labels, None) if with_null else labels, with_null, facts.type)
    if facts.type is Type.NUMBER and column is None:
        why = "Nearly every row would have a group of its own."
        raise NotAnswerable(f"{key.name} is a computed number.", why, "Group by FLOOR(…) of it, or by bins.")
    return KeyCells(key, None, with_null, facts.type, (column.step if column is not None else None) or Fraction(1))


def _labels(item: Expr, facts: Domain, column: Column | None) -> tuple[Label, ...] | None:
    """The public values of a key, or None."""
    if facts.values is not None:
        return facts.values
    exact = column is not None or facts.type is not Type.NUMBER
    if facts.interval is None or facts.step is None or not exact or facts.type is Type.TEXT:
        return None
    low, high = ends_in_steps(facts)
    if not 0 <= high - low < MOST_POINTS:
        return None
    return tuple(_label(steps * facts.step, facts.type) for steps in range(low, high + 1))


def ends_in_steps(facts: Domain) -> tuple[int, int]:
    """First and last multiple of the step within the interval."""
    if facts.interval is None or facts.step is None:
        raise ValueError("only bounded numbers with a step have ends")
    return ceil(facts.interval[0] / facts.step), floor(facts.interval[1] / facts.step)


def _label(measure: Fraction, kind: Type) -> Label:
    """The date, datetime or number with this measure."""
    match kind:
        case Type.DATE:
            return dates.day(int(measure))
        case Type.DATETIME:
            return dates.moment(int(measure))
        case _:
            return dates.whole(measure)


def bin_labels(bins: Bins) -> tuple[str, ...]:
    """The bins as they are shown, the last one closed.

    >>> bin_labels(Bins(Col("age"), (Fraction(0), Fraction(18), Fraction(65))))
    ('[0, 18)', '[18, 65]')
    """
    if bins.edges is None:
        raise ValueError("bins of a resolved question have edges")
    edges = (edge.isoformat() if isinstance(edge, date) else toml_value(edge).strip('"') for edge in bins.edges)
    pairs = list(pairwise(edges))
    return tuple(f"[{low}, {high}{']' if index == len(pairs) - 1 else ')'}" for index, (low, high) in enumerate(pairs))
