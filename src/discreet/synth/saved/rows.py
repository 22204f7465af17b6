"""Rows of a file as fine codes, and whether these codes give the rows back: values within cells follow from a seed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.learn.saved.rebuild import Unlike
from discreet.ndarrays import Ints
from discreet.noise.public import generator
from discreet.query.explain import unit
from discreet.schema import Type
from discreet.synth.column.column import SynthColumn
from discreet.synth.column.values import arrow_of
from discreet.synth.drawn import Codes
from discreet.synth.subject import Subject

_CELL = 16  # bytes of a cell beside its text, its levels and its length included
_PIECE = 2**16  # of a column in a row group, beside its cells
_UNITS_LOST, _FEW_UNITS = 10, 1000  # so many times the units found, and so many more, may have been drawn


def arrow_schema(subject: Subject) -> Any:
    """The names and types that the rows of a subject have in Arrow, the number of the unit first where there is one."""
    import pyarrow  # type: ignore[import-untyped]

    none = np.zeros(0, dtype=np.int64)
    schema = arrow_of(subject.columns, {column.name: none for column in subject.columns}, generator(0)).schema
    return schema.insert(0, pyarrow.field(unit(subject.schema), pyarrow.int64())) if subject.is_shared else schema


def require_schema(theirs: Any, own: Any, is_invented: bool) -> None:
    """Refuses, as ValueError, columns of other names or types; a rehearsal has one of texts more, the last."""
    import pyarrow

    if is_invented and len(theirs) and theirs.types[-1] == pyarrow.string() and theirs.names[-1] not in own.names:
        theirs = theirs.remove(len(theirs) - 1)
    if not theirs.remove_metadata().equals(own.remove_metadata()):
        raise Unlike("the columns are others")


def most_bytes(columns: Sequence[SynthColumn], rows: int, pieces: int) -> int:
    """What so many rows take at most, unpacked, in so many row groups; a text is one of the column's public values."""
    texts = [[len(str(value).encode()) for value in column.values or ()] for column in columns]
    longest = sum(max(own, default=0) for own in texts)
    longest += longest // 64  # heads of pages repeat the first and the last of their texts
    listed = sum(len(own) * _CELL + sum(own) for own in texts)
    wide = len(columns) + 2  # the number of the unit, and the stamp of a rehearsal
    return rows * (_CELL * wide + longest) + pieces * (_PIECE * wide + listed)


def codes_of(columns: Sequence[SynthColumn], unit_column: str | None, most_rows: int, arrow: Any) -> Codes:
    """The codes of an Arrow table with these columns, the first that of units where there is one."""
    codes = tuple(_codes(column, arrow.column(column.name)) for column in columns)
    return Codes(codes, None if unit_column is None else _units(arrow.column(unit_column), most_rows))


def _codes(column: SynthColumn, cells: Any) -> Ints:
    import pyarrow

    if len(cells) == 0:
        return np.zeros(0, dtype=np.int64)
    if pyarrow.types.is_dictionary(cells.type):
        return np.concatenate([_places(column, piece) for piece in cells.chunks])
    cells = _plain(cells)
    is_empty = np.asarray(cells.is_null().to_numpy(zero_copy_only=False))
    codes = _listed_codes(column, cells) if column.values is not None else _binned_codes(column, cells)
    return np.where(is_empty, column.cells, codes).astype(np.int64)


def _places(column: SynthColumn, piece: Any) -> Ints:
    """The codes of a piece with a dictionary, which is never written out: a short file may name a long text often."""
    import pyarrow
    from pyarrow import compute

    values = pyarrow.array(list(column.values or ()), piece.dictionary.type)
    places = compute.index_in(piece.dictionary, value_set=values)
    if places.null_count:
        raise Unlike("a cell holds a value that is not public")
    own = np.append(places.to_numpy(zero_copy_only=False), column.cells)
    codes: Ints = own[piece.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)].astype(np.int64)
    return codes


def _listed_codes(column: SynthColumn, cells: Any) -> Ints:
    import pyarrow
    from pyarrow import compute

    values = pyarrow.array(list(column.values or ()), cells.type)
    places = compute.index_in(cells, value_set=values)
    known: Ints = places.fill_null(column.cells).to_numpy(zero_copy_only=False).astype(np.int64)
    if int((known == column.cells).sum()) != cells.null_count:
        raise Unlike("a cell holds a value that is not public")
    return known


def _binned_codes(column: SynthColumn, cells: Any) -> Ints:
    """By the first points of bins: whole numbers exactly, others at the nearest point of the lattice."""
    import pyarrow

    if column.type is Type.NUMBER:
        points = np.rint(cells.fill_null(0.0).to_numpy() / float(column.step)).astype(np.int64)
    else:
        whole = cells.cast(pyarrow.int32()) if column.type is Type.DATE else cells
        numbers = whole.cast(pyarrow.int64()).fill_null(0).to_numpy()
        points = (numbers // 1000 if column.type is Type.DATETIME else numbers) // column.step.numerator
    inner = column.starts[1:-1]
    codes: Ints = np.searchsorted(inner, points, side="right").astype(np.int64)
    return codes


def _units(cells: Any, most_rows: int) -> Ints:
    """The numbers of units, which grow from 0 on; each has at most so many rows."""
    units: Ints = _plain(cells).to_numpy().astype(np.int64)
    rows_of_unit = np.unique(units, return_counts=True)[1]
    if (units < 0).any() or (np.diff(units) < 0).any() or rows_of_unit.max(initial=0) > most_rows:
        raise Unlike("units are numbered otherwise")
    return units


def require_units(subject: Subject, units: int, codes: Codes) -> None:
    """Refuses, as ValueError, rows of fewer units than are drawn, of which replicates have as many.

    Where combinations are impossible some rows are left out, if rounding lost a chance of 0: that is rarely any.
    """
    shown = codes.rows
    if codes.units is not None:
        shown = len(np.unique(codes.units))
        if codes.units.max(initial=0) >= units:
            raise Unlike("units are numbered otherwise")
    most_units = _UNITS_LOST * shown + _FEW_UNITS if subject.zeros else shown
    if not shown <= units <= most_units:
        raise Unlike("the rows are of other units")


def require_rows(columns: Sequence[SynthColumn], own: Any, theirs: Any) -> None:
    """Refuses, as ValueError, rows that are not those which their own cells give."""
    if theirs.column_names != own.column_names:
        raise Unlike("the columns are others")
    by_name = {column.name: column for column in columns}
    for name in own.column_names:
        if not _are_equal(by_name.get(name), own.column(name), theirs.column(name)):
            raise Unlike("a value is none that its cell gives")


def _are_equal(column: SynthColumn | None, own: Any, theirs: Any) -> bool:
    """Whether both have the same values; those of a dictionary are told by their codes."""
    import pyarrow

    if own.type != theirs.type:
        return False
    if column is not None and pyarrow.types.is_dictionary(own.type):
        return np.array_equal(_codes(column, own), _codes(column, theirs))
    return bool(_plain(theirs).equals(_plain(own)))


def _plain(cells: Any) -> Any:
    """The column in one piece."""
    return cells.combine_chunks()
