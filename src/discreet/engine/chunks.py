"""The prepared table read in chunks of whole units, by ranges of row numbers: bounded memory whatever the table holds.

Rows lie in the order of unit ids, then of ranks (`query.layout`); a chunk that is not in that order, or begins with the
unit that the last one ended with, is refused.  A range is cut before the last unit in it, unless that unit must be
complete: a unit's rows lie side by side, so from its first one seen at most `max_rows` on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.engine.passes import Pass
from discreet.kernel.contract import MOST_UNITS
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.query.layout import RANK, TABLE, UNIT


@dataclass(frozen=True)
class Place:
    """Where the next range begins, the last unit that was read, and how many rows there are in all."""

    row: int = 0
    after: int | None = None
    total: int | None = None  # not counted yet


BEGINNING = Place()


def chunks(
    connection: Any, reading: Pass, where: str, beginning: Place = BEGINNING
) -> Iterator[tuple[UnitRows, Place | None]]:
    """Read all chunks from a place on that hold a row, one after the other, each with the place after it."""
    place: Place | None = beginning
    while place is not None:
        chunk, place = chunk_at(connection, reading, where, place)
        if chunk.size:
            yield chunk, place


def chunk_at(connection: Any, reading: Pass, where: str, place: Place) -> tuple[UnitRows, Place | None]:
    """Read the units from that place on, and find the next place, None at the end; ValueError for rows out of order."""
    total = _total(connection) if place.total is None else place.total
    end = place.row + reading.chunk_rows
    cells = ", ".join(field.cell for field in reading.fields)
    rule = f"rowid >= {place.row} AND rowid < {end}" + (f" AND {where}" if where else "")
    read = connection.execute(f"SELECT rowid, {UNIT}, {RANK}, {cells} FROM {TABLE} WHERE {rule}").fetchnumpy()
    number, unit, rank = (np.asarray(read[name]).astype(np.int64, copy=False) for name in ("rowid", UNIT, RANK))
    require_sorted(unit, rank, place.after)
    size = whole_units(unit, number, end, reading.max_rows) if end < total else len(unit)
    chunk = UnitRows(
        {field.name: field.values(*_cells(read[field.cell], size)) for field in reading.fields},
        starts_of(unit[:size], reading.max_rows),
        size,
    )
    last = int(unit[size - 1]) if size else place.after
    following = int(number[size]) if size < len(number) else end
    return chunk, Place(following, last, total) if following < total else None


def whole_units(unit: Ints, number: Ints, end: int, max_rows: int) -> int:
    """How many of these rows come before the last unit, or all if its rows must end before row number `end`."""
    if not len(unit):
        return 0
    last = int(np.searchsorted(unit, unit[-1]))
    return len(unit) if int(number[last]) + max_rows <= end else last


def require_sorted(unit: Ints, rank: Ints, after: int | None) -> None:
    """Refuses rows that are not in the order of units and ranks, or go on with a unit that was read already."""
    if not len(unit):
        return
    later = unit[1:] > unit[:-1]
    follows = later | ((unit[1:] == unit[:-1]) & (rank[1:] >= rank[:-1]))
    if not follows.all() or (after is not None and int(unit[0]) <= after):
        raise ValueError


def starts_of(unit: Ints, max_rows: int) -> Ints:
    """Where each unit's rows begin; refused where one has more than it may."""
    if not len(unit):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], unit[1:] != unit[:-1]))).astype(np.int64)
    if int(np.diff(starts, append=len(unit)).max()) > max_rows:
        raise ValueError
    return starts


def _cells(column: Any, size: int) -> tuple[Any, Any]:
    """Stored cells, and which of them are empty."""
    if not isinstance(column, np.ma.MaskedArray):
        return column[:size], None
    return column.data[:size], np.ma.getmaskarray(column)[:size]


def _total(connection: Any) -> int:
    """How many rows there are, if those are their numbers: none is beyond, so none is missing before."""
    ((count,),) = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchall()
    ((beyond,),) = connection.execute(f"SELECT count(*) FROM {TABLE} WHERE rowid >= {int(count)}").fetchall()
    if beyond or count > MOST_UNITS:
        raise ValueError
    return int(count)
