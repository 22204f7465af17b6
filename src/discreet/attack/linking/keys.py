"""Join two tables on shared columns, where both have exactly one row with these values."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.attack.given import cells_of, column_names
from discreet.errors import bad, bad_private
from discreet.ndarrays import Bools, Ints

Columns = Mapping[str, Any]  # of equal length, each a sequence of cells
NOBODY = -1
BLANK = ""
_NUMBER = re.compile(r"([+-]?)0*(\d+?)(?:\.(\d*?)0*)?")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?")
_MISSING = ("none", "nan", "nat", "<na>")  # of cells that are no texts


def columns_of(table: Any, names: Sequence[str], what: str) -> dict[str, list[Any]]:
    """These columns of a frame or a mapping, as lists of one length.

    >>> columns_of({"zip": ("19146", "19118")}, ["zip"], "register")
    {'zip': ['19146', '19118']}
    """
    columns: dict[str, list[Any]] = {}
    for name in names:
        cells = cells_of(table[name]) if name in column_names(table) else None
        if cells is None:
            raise bad(what, f"must have the column {name!r}", "none of that name", "Name a column it has.")
        columns[name] = cells
    if len({len(column) for column in columns.values()}) != 1 or not next(iter(columns.values())):
        raise bad_private(what, "must have columns of one length with one row or more", "Give a whole table.")
    return columns


def shared_keys(tables: Sequence[Columns], on: Sequence[str]) -> list[Ints]:
    """For each table a whole number for each row: equal for rows that agree in all these columns, in any of the tables.

    Cells agree where their spellings do; blanks agree too.

    >>> [key.tolist() for key in shared_keys([{"a": [1, 2]}, {"a": ["2.0", "3", "1"]}], ["a"])]
    [[0, 1], [1, 2, 0]]
    """
    sizes = [len(table[on[0]]) for table in tables]
    combined = np.zeros(sum(sizes), dtype=np.int64)
    for name in on:
        places: dict[str, int] = {}  # no array of texts, which is as wide as the longest of them and ends at a NUL
        codes = [places.setdefault(spelling(cell), len(places)) for table in tables for cell in table[name]]
        combined = np.unique(combined * len(places) + codes, return_inverse=True)[1]
    return np.split(combined.astype(np.int64), np.cumsum(sizes)[:-1])


def spelling(cell: Any) -> str:
    """One text for each value, of whatever type: numbers without needless zeros, midnight as its day, and "" if blank.

    >>> from datetime import datetime
    >>> [spelling(cell) for cell in (34.0, "034", "34.50", datetime(2020, 1, 1), "2020-01-01", True, None)]
    ['34', '34', '34.5', '2020-01-01', '2020-01-01', 'true', '']
    """
    text = str(cell).strip()
    if not isinstance(cell, str) and text.lower() in _MISSING:
        return BLANK
    if "e" in text and isinstance(cell, float):
        text = format(Decimal(text), "f")
    number = _NUMBER.fullmatch(text)
    if number is not None:
        digits = f"{number[2]}.{number[3]}" if number[3] else number[2]
        return f"-{digits}" if number[1] == "-" and digits != "0" else digits
    midnight = _MIDNIGHT.fullmatch(text)
    if midnight is not None:
        return midnight[1]
    return text.lower() if text in ("True", "False", "TRUE", "FALSE") else text


def blank_rows(table: Columns, on: Sequence[str]) -> Bools:
    """Which rows lack a value in one of these columns or more.

    >>> blank_rows({"a": [1, None, "x"], "b": ["y", "z", " "]}, ["a", "b"]).tolist()
    [False, True, True]
    """
    return np.asarray(np.any([[spelling(cell) == BLANK for cell in table[name]] for name in on], axis=0))


def unique_matches(published: Ints, register: Ints) -> Ints:
    """For each published row the place of the only register row with its key, or −1; its key must be its own too.

    >>> unique_matches(np.array([4, 5, 6, 6]), np.array([5, 4, 4, 6])).tolist()
    [-1, 0, -1, -1]
    """
    size = int(max(published.max(), register.max())) + 1
    places = np.full(size, NOBODY, dtype=np.int64)
    places[register] = np.arange(register.size)
    is_single = (np.bincount(register, minlength=size) == 1) & (np.bincount(published, minlength=size) == 1)
    return np.where(is_single[published], places[published], NOBODY)


def unique_share(keys: Ints, left_out: Bools | None = None) -> float:
    """The share of rows whose key no other row has; rows that are left out are not unique.

    >>> unique_share(np.array([0, 1, 1, 2]))
    0.5
    """
    is_single = np.bincount(keys)[keys] == 1
    return float((is_single if left_out is None else is_single & ~left_out).mean())
