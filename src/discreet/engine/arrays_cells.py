"""Arrays in this process prepared as `cells`, `packing` and `prepare` say it in SQL: the same cells, ids and ranks.

Read are whole numbers and floats, flags, and texts for columns with public values; other columns are refused by their
type, never by what they hold.  A cell is empty where it is NaN, None or masked, or breaks its column's rule.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine import beyond, mixing, packing
from discreet.engine.prepare import ID_KEY, KEYS, ROW_KEY
from discreet.engine.secret import Secret
from discreet.errors import bad, bad_private
from discreet.ndarrays import Bools, Floats, Ints
from discreet.query.compile.piece import Kind
from discreet.query.layout import Store, storage
from discreet.schema import Column, Empty, Lattice, Schema, Type

Array = NDArray[Any]

_ROOM = 2**52  # ends of a lattice below: doubles and int64 hold all that is worked out
_KINDS = {Type.BOOLEAN: "b", Type.INTEGER: "iuf", Type.NUMBER: "iuf", Type.CATEGORY: "UO", Type.TEXT: "UO"}


@dataclass(frozen=True, eq=False)
class Cells:
    """Stored cells of one column, which are empty, and for a column with bounds beyond which of them each cell lay."""

    stored: Array
    empty: Bools
    side: Ints | None = None

    def __getitem__(self, rows: Any) -> "Cells":
        return Cells(self.stored[rows], self.empty[rows])


@dataclass(frozen=True, eq=False)
class Held:
    """The rows that count, in the order of units and ranks."""

    unit: Ints
    rank: Ints
    cells: Mapping[str, Cells]  # by the column's name
    has_hashed_ids: bool = True  # no other unit moves an id


def require_held(schema: Schema, table: Mapping[str, Array]) -> None:
    """Refuses columns that this engine does not read, by their declared type and their dtype."""
    unit = [] if schema.unit is None else [schema.unit.key]
    for name in [*unit, *(column.name for column in schema.columns)]:
        if name not in table:
            raise bad("table", f"must hold the column {name!r}", sorted(table), "Rename it there, or in the metadata.")
    if schema.unit is not None and table[schema.unit.key].dtype.kind not in "iuUO":
        fix = "Hand over whole numbers or texts."
        raise bad(f"column {schema.unit.key!r}", "must hold keys", str(table[schema.unit.key].dtype), fix)
    for column in schema.columns:
        _require_read(schema, column, table[column.name].dtype)
    if len({array.shape for array in table.values()}) > 1 or any(array.ndim != 1 for array in table.values()):
        raise bad_private("table", "must hold flat arrays of one length", "Hand over one cell a row.")


def _require_read(schema: Schema, column: Column, dtype: Any) -> None:
    lattice = column.lattice
    is_exact = lattice is None or lattice.largest * lattice.step < _ROOM
    is_read = column.type in _KINDS and storage(schema, column).store is not Store.TEXT and is_exact
    if not is_read or (column.type is Type.INTEGER and lattice is None):
        fix = "Use the engine on files for dates, free text, and whole numbers without bounds or beyond 2^52."
        raise bad(f"column {column.name!r}", "must be of a type that arrays are read as", str(column.type), fix)
    if dtype.kind not in _KINDS[column.type] or dtype.str[1:] == "u8":
        rule = f"must have a dtype that fits a {column.type} column"
        raise bad(f"column {column.name!r}", rule, str(dtype), "Hand over int64, float64, bool, or texts.")


def prepared_rows(schema: Schema, table: Mapping[str, Array], secret: Secret) -> Held:
    """The prepared rows."""
    cells = {column.name: _read(column, table[column.name]) for column in schema.columns}
    words = _words(schema, cells)
    if schema.unit is None:
        size = len(next(iter(table.values()), ()))
        return _each_row([*(word.spelt for word in words), *_sides(schema, cells)], cells, secret, size)
    texts = [_text(key) for key in table[schema.unit.key].tolist()]
    rows = np.array([row for row, text in enumerate(texts) if text], dtype=np.intp)
    keys, id_key = [texts[row] for row in rows], secret.key_for(ID_KEY, KEYS[ID_KEY])
    ids = {key: _id64(id_key, key) for key in set(keys)}
    unit = np.array([ids[key] for key in keys], dtype=np.int64)
    short, row_key = packing.is_short(packing.words(schema)), secret.key_for(ROW_KEY, KEYS[ROW_KEY])
    limbs = [limb[rows] for limb in (_limbs(words) if short else _hash_limbs(words, row_key))]
    order = np.lexsort((*(plain[rows] for plain in _tie_breaks(words)), mixing.mixed(unit & mixing.MASK, limbs), unit))
    unit, rows = unit[order], rows[order]
    first = np.searchsorted(unit, unit)
    rank = np.arange(len(unit)) - first + 1
    keeps = rank <= schema.max_rows
    for column in schema.columns:
        if column.fixed_per_unit:
            own = cells[column.name][rows]
            same = np.where(own.empty, own.empty[first], ~own.empty[first] & (own.stored == own.stored[first]))
            keeps &= same
    return Held(unit[keeps], rank[keeps], {name: column_cells[rows[keeps]] for name, column_cells in cells.items()})


def rows_in_place(schema: Schema, table: Mapping[str, Array]) -> Held:
    """The rows as they lie, each a unit with its place as id: for arrays that only this process has seen."""
    size = len(next(iter(table.values()), ()))
    cells = {column.name: _read(column, table[column.name]) for column in schema.columns}
    return Held(np.arange(size, dtype=np.int64), np.ones(size, dtype=np.int64), cells, has_hashed_ids=False)


def _each_row(parts: Sequence[Sequence[str]], cells: Mapping[str, Cells], secret: Secret, size: int) -> Held:
    """Each row a unit, by an id of its words, of the bounds they lay beyond, and of its number among equal rows."""
    id_key, seen = secret.key_for(ID_KEY, KEYS[ID_KEY]), dict[tuple[str, ...], int]()
    unit = np.zeros(size, dtype=np.int64)
    for row in range(size):
        message = tuple(part[row] for part in parts)
        seen[message] = seen.get(message, 0) + 1
        unit[row] = _id64(id_key, "|".join([*message, str(seen[message])]))
    order = np.argsort(unit, kind="stable")
    return Held(
        unit[order], np.ones(size, dtype=np.int64), {name: column_cells[order] for name, column_cells in cells.items()}
    )


def _sides(schema: Schema, cells: Mapping[str, Cells]) -> list[list[str]]:
    """The numbers that hold the sides of every row, as parts of a message; see `beyond`."""
    ordered = [
        cells[column.name].side for column in sorted(schema.columns, key=lambda column: schema.places[column.name])
    ]
    sides = [side for side in ordered if side is not None]
    words = [sides[first : first + beyond.IN_A_WORD] for first in range(0, len(sides), beyond.IN_A_WORD)]
    packed = [sum((side << (beyond.BITS * place) for place, side in enumerate(word)), np.int64(0)) for word in words]
    return [[str(value) for value in np.asarray(word).tolist()] for word in packed]


@dataclass(frozen=True, eq=False)
class _Word:
    """One word of every row: its bits if packed; as whole numbers, as it sorts, and where it is empty."""

    bits: int
    plain: Ints
    sorts_as: Array
    empty: Bools

    @property
    def spelt(self) -> list[str]:
        """As parts of a message."""
        pairs = zip(self.plain.tolist(), self.empty.tolist(), strict=True)
        return ["" if empty else str(value) for value, empty in pairs]


def _words(schema: Schema, cells: Mapping[str, Cells]) -> list[_Word]:
    """The words of every row; see `packing`."""
    by_place = {storage(schema, column).name: cells[column.name] for column in schema.columns}
    words = []
    for word in packing.words(schema):
        own = by_place[word.digits[0].cell]
        if word.kind is not None:
            plain = own.stored.view(np.int64) if word.kind is Kind.REAL else own.stored
            words.append(_Word(0, plain, own.stored, own.empty))
            continue
        packed = np.zeros(len(own.stored), dtype=np.int64)
        for digit in word.digits:
            cell = by_place[digit.cell]
            packed += np.where(cell.empty, 0, cell.stored.astype(np.int64) + (1 - digit.low)) << digit.shift
        last = word.digits[-1]
        words.append(_Word(last.shift + last.bits, packed, packed, np.zeros(len(packed), dtype=np.bool_)))
    return words


def _limbs(words: Sequence[_Word]) -> list[Ints]:
    """The limbs of few packed words."""
    return [limb for word in words for limb in ([word.plain] if word.bits <= mixing.LIMB else _halves(word.plain))]


def _hash_limbs(words: Sequence[_Word], row_key: str) -> list[Ints]:
    """The limbs of a hash of all words."""
    messages = zip(*(word.spelt for word in words), strict=True)
    return _halves(np.array([_order64(row_key, list(parts)) >> 2 for parts in messages], dtype=np.int64))


def _halves(word: Ints) -> list[Ints]:
    return [word & mixing.MASK, word >> mixing.LIMB]


def _tie_breaks(words: Sequence[_Word]) -> list[Array]:
    """What orders rows of one x, the last key first, as `lexsort` takes it: words, those that are empty behind."""
    return [key for word in reversed(words) for key in (np.where(word.empty, 0, word.sorts_as), word.empty)]


def _id64(key: str, message: str) -> int:
    digest = hashlib.sha256((key + message).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _order64(key: str, parts: list[str]) -> int:
    digest = hashlib.md5((key + "|".join(parts)).encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def _text(key: Any) -> str | None:
    """A text, or a whole number's digits; nothing else is one."""
    if isinstance(key, str):
        return key
    return str(key) if isinstance(key, int) and not isinstance(key, bool) else None


# --- one column ----------------------------------------------------------------------------------------------------


def _read(column: Column, array: Array) -> Cells:
    empty = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else np.zeros(len(array), dtype=np.bool_)
    plain = np.ma.getdata(array)
    with np.errstate(invalid="ignore", over="ignore"):
        match column.type:
            case Type.BOOLEAN:
                return Cells(plain.astype(np.bool_), empty)
            case Type.INTEGER if column.lattice is not None:
                return _with_sides(column, column.lattice, plain, _whole(column, column.lattice, plain, empty))
            case Type.NUMBER:
                real = plain.astype(np.float64)
                return _with_sides(column, column.lattice, real, _number(column.lattice, real, empty))
            case _:
                codes = {str(value): code for code, value in enumerate(column.values or ())}
                if column.empty is Empty.NULL:
                    codes.pop("", None)
                places = [-1 if (text := _text(value)) is None else codes.get(text, -1) for value in plain.tolist()]
                code = np.array(places, dtype=np.int64)
                return Cells(np.maximum(code, 0), empty | (code < 0))


def _with_sides(column: Column, lattice: Lattice | None, value: Array, cells: Cells) -> Cells:
    """The same with sides, for a column with bounds."""
    if column.bounds is None or lattice is None:
        return cells
    if column.type is Type.INTEGER and value.dtype.kind == "f":
        value = np.floor(value + 0.5)
    low, high = (end * lattice.step for end in (lattice.low, lattice.high))
    ends = (int(low), int(high)) if value.dtype.kind in "iu" else (float(low), float(high))
    side = np.where(value < ends[0], beyond.BELOW, np.where(value > ends[1], beyond.ABOVE, 0))
    return Cells(cells.stored, cells.empty, np.where(np.ma.getmaskarray(value) | cells.empty, 0, side).astype(np.int64))


def _number(lattice: Lattice | None, value: Floats, empty: Bools) -> Cells:
    empty = empty | np.isnan(value)
    value = np.where(empty, 0.0, value) + 0.0  # −0 and 0 are one value
    if lattice is None:
        return Cells(value, empty)
    top, bottom = lattice.step.numerator, lattice.step.denominator
    exact = max(top, bottom) < _ROOM
    scaled = value * float(bottom) / float(top) if exact else value / float(lattice.step)
    low, high = float(lattice.low * lattice.step), float(lattice.high * lattice.step)
    inside = np.clip(np.floor(np.clip(scaled, -(2.0**62), 2.0**62) + 0.5).astype(np.int64), lattice.low, lattice.high)
    return Cells(np.where(value <= low, lattice.low, np.where(value >= high, lattice.high, inside)), empty)


def _whole(column: Column, lattice: Lattice, value: Array, empty: Bools) -> Cells:
    if value.dtype.kind == "f":
        empty = empty | np.isnan(value)
        value = np.floor(np.where(empty, 0.0, value.astype(np.float64)) + 0.5)
    if column.values is not None:
        empty = empty | ~np.isin(value, np.array(column.values, dtype=np.int64))
    step = int(lattice.step)
    inside = np.clip(value, lattice.low * step, lattice.high * step).astype(np.int64)
    return Cells((2 * (inside - lattice.low * step) + step) // (2 * step) + lattice.low, empty)
