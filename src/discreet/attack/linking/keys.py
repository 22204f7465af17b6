"""Join two tables on shared columns, where both have exactly one row with these values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.attack.given import cells_of, column_names
from discreet.errors import bad, bad_private
from discreet.ndarrays import Ints

Columns = Mapping[str, Any]  # of equal length, each a sequence of cells
NOBODY = -1


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

    Cells agree where their texts do.

    >>> [key.tolist() for key in shared_keys([{"a": [1, 2]}, {"a": ["2", "3", "1"]}], ["a"])]
    [[0, 1], [1, 2, 0]]
    """
    sizes = [len(table[on[0]]) for table in tables]
    combined = np.zeros(sum(sizes), dtype=np.int64)
    for name in on:
        places: dict[str, int] = {}  # no array of texts, which is as wide as the longest of them and ends at a NUL
        codes = [places.setdefault(str(cell), len(places)) for table in tables for cell in table[name]]
        combined = np.unique(combined * len(places) + codes, return_inverse=True)[1]
    return np.split(combined.astype(np.int64), np.cumsum(sizes)[:-1])


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


def unique_share(keys: Ints) -> float:
    """The share of rows whose key no other row has.

    >>> unique_share(np.array([0, 1, 1, 2]))
    0.5
    """
    return float((np.bincount(keys)[keys] == 1).mean())
