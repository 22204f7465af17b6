"""Who takes part in a step: every person by a coin of her own, with at most so many of her rows, drawn afresh.

    person in the sample    with probability `rate` exactly, independently of everyone else (Poisson)
    her rows                all of them up to `max_rows`, else a uniform subset of `max_rows`

Everything here is private: how many persons there are, how many are in a sample, and how many rows they brought.
"""

import contextlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad, bad_private
from discreet.learn.input.cells import EXACT, cells_of, keys_of
from discreet.ndarrays import Ints
from discreet.noise.bernoulli import bernoulli
from discreet.noise.select import uniforms
from discreet.noise.source import Source
from discreet.noise.subset import uniform_subsets

# how the names of types begin, in NumPy, pandas, Polars, Arrow and torch
_MERGING = ("float", "bfloat", "double", "half", "complex")
_SPANS = ("timedelta", "duration", "period", "interval", "month_day")
_RECORDS = ("struct", "list", "large_list", "fixed_size_list", "array", "map", "void", "|v", "[(", "{")
_EXACT = {"complex64": 2.0**24, "float32": 2.0**24, "float16": 2.0**11, "bfloat16": 2.0**8} | dict.fromkeys(
    ("float", "float64", "complex", "complex128"), EXACT
)  # below it, whole numbers are of their own in a cell of that type; of others, none is known to be


@dataclass(frozen=True, eq=False)
class Persons:
    """Rows by person: those of person i are order[starts[i] : starts[i + 1]]."""

    order: Ints
    starts: Ints
    has_units: bool = True  # public: whether the caller named units, or each row is a person

    @property
    def count(self) -> int:
        """How many persons there are, which is private."""
        return self.starts.size - 1

    @cached_property
    def sizes(self) -> Ints:
        """How many rows each person has, which is private."""
        return np.diff(self.starts)


def persons_of(units: Any, size: int) -> Persons:
    """The persons of `size` rows, by the unit of each row; without units each row is a person.

    Units are keys as everywhere (`learn.input.cells`): 1, 1.0 and "1" are one, True and b"1" are others; a tensor of
    one number is that number.  Columns of floats, complex numbers, durations, periods, intervals and records are
    refused by their type.  In a column of objects no cell is refused, for that would tell of it: a row is nobody's and
    never used if its cell is no key, as a tuple or a duration, or a float that several keys may have become.

    >>> persons_of(["ann", "bob", "ann", None], 4).sizes.tolist()
    [2, 1]
    """
    if units is None:
        every = np.arange(amounts.count(size, "size") + 1, dtype=np.int64)
        return Persons(every[:-1], every, has_units=False)
    if getattr(units, "ndim", 1) != 1 or isinstance(units, (str, bytes)):
        raise bad("units", "must be a column of keys", type(units).__name__, "Give one unit a row, in a list or array.")
    _require_keys(units)
    person = _person_numbers(units)
    if person.size != size:
        raise bad_private("data and units", "must have one length", "Hand over one unit a row.")
    order = np.argsort(person, kind="stable")
    nobody = int(np.count_nonzero(person < 0))
    sizes = np.bincount(person[person >= 0])
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])
    return Persons(order[nobody:].astype(np.int64), starts)


def poisson_sample(persons: Persons, rate: Fraction, max_rows: int, source: Source) -> tuple[Ints, Ints | None]:
    """The rows of a sample, and the number of the person who owns each, from 0 upwards in runs.

    Owners are None where a person brings one row at most: without units, or with max_rows = 1.
    """
    persons_in = np.flatnonzero(bernoulli(rate, persons.count, source)).astype(np.int64)
    return _rows_of(persons, persons_in, max_rows, source)


def slots_of(persons: Persons, count: int, source: Source) -> Ints:
    """A step of the epoch for each person, uniform among `count` and independent of everyone else.

    It is drawn once for a whole training: a person who comes or goes moves nobody else to another step.
    """
    return uniforms(count, persons.count, source)


def slot_sample(persons: Persons, slots: Ints, slot: int, max_rows: int, source: Source) -> tuple[Ints, Ints | None]:
    """The rows of the persons of one slot, at most `max_rows` each, and their owners as `poisson_sample` gives them."""
    return _rows_of(persons, np.flatnonzero(slots == slot).astype(np.int64), max_rows, source)


def _rows_of(persons: Persons, persons_in: Ints, max_rows: int, source: Source) -> tuple[Ints, Ints | None]:
    """The rows that these persons bring, and their owners."""
    if not persons.has_units:
        return persons_in, None
    sizes = persons.sizes[persons_in]
    before = np.cumsum(sizes) - sizes
    places = np.repeat(persons.starts[persons_in] - before, sizes) + np.arange(int(sizes.sum()))
    chosen = uniform_subsets(sizes, max_rows, source)
    rows = persons.order[places[chosen]]
    if max_rows == 1:
        return rows, None
    return rows, np.repeat(np.arange(persons_in.size, dtype=np.int64), np.minimum(sizes, max_rows))


def _require_keys(units: Any) -> None:
    """Refuses columns by their type; of no rows, floats are the type of whatever was not given one."""
    kinds = _kinds_of(units)
    others = [kind for kind in kinds if kind.startswith((*_SPANS, *_RECORDS))]
    if others:
        fix = "Hand over whole numbers or texts, for example units.astype(str)."
        raise bad("units", "must be whole numbers, texts, dates or UUIDs", f"a column of {others[0]}", fix)
    if any(kind.startswith(_MERGING) for kind in kinds) and len(units):
        fix = "Hand over whole numbers or texts, for example units.astype('Int64') before one is missing."
        raise bad("units", "must not be floats, which merge large numbers", "a column of floats", fix)


def _kinds_of(units: Any) -> list[str]:
    """The names of a column's type, and of the types of its categories or sparse cells."""
    kind, names = getattr(units, "dtype", getattr(units, "type", "")), list[str]()
    for inner in ("categories", "subtype", "value_type", ""):
        names.append(str(kind).lower().removeprefix("torch.").removeprefix("<class 'numpy.").strip("<>' "))
        own = getattr(kind, inner, kind) if inner else kind
        kind = getattr(own, "dtype", own)
    return names


def _person_numbers(units: Any) -> Ints:
    """The person of each row as a number from 0 upwards; −1 where a row is nobody's."""
    if type(units) is np.ndarray and units.dtype.kind in "iu":  # keys by their digits, without spelling them
        return np.unique(units, return_inverse=True)[1].astype(np.int64).reshape(-1)
    numbers: dict[str | None, int] = {None: -1}
    keys = keys_of([None if _is_merged(cell) else _scalar(cell) for cell in cells_of(units)])
    return np.array([numbers.setdefault(key, len(numbers) - 1) for key in keys], dtype=np.int64)


def _scalar(cell: Any) -> Any:
    """The number in a tensor or array of one number without an axis; None in one that is masked or has no values."""
    if getattr(cell, "ndim", None) != 0 or not hasattr(cell, "tolist"):
        return cell
    with contextlib.suppress(Exception):  # what it says would tell of a cell
        return cell.tolist()
    return None


def _is_merged(cell: Any) -> bool:
    """Whether a cell is a float, or a complex number, that several whole numbers may have become."""
    scalar = _scalar(cell)
    if not isinstance(scalar, (float, complex, np.inexact)):
        return False
    kind = str(getattr(cell, "dtype", type(scalar).__name__)).removeprefix("torch.")
    exact = _EXACT.get(kind, EXACT if scalar is cell and not hasattr(cell, "dtype") else 0.0)
    return not abs(complex(scalar).real) < exact
