"""Cells that a caller hands over, each read by its own value: no cell may change how another is read.

NumPy and pandas give a column one type, and one person's empty or odd cell changes it: whole numbers become floats, a
list with a text becomes texts.  So every reading here gives a cell the same meaning in a column of any type.

    number   a number, a boolean as 0 or 1, a text that spells one; NaN for anything else
    value    the public value that the cell's text is, or else the one whose number it is; None for anything else
    key      a text or a whole number's digits, "1.0" being "1"; a date or UUID as its text, bytes in hexadecimal; None
             for anything else

A masked cell is empty.  Whole numbers of 2⁵³ or more in a column of floats are refused by the column's type: one empty
cell makes floats of all of them, and several become one.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.ndarrays import Floats

EXACT = 2.0**53  # whole numbers below it are doubles of their own
_LONGEST = Decimal(10) ** 1000  # of a whole Decimal that is spelt out
_TRUTHS = {"true": 1.0, "false": 0.0}
_WHOLE_FLOAT = re.compile(r"[+-]?\d+\.0*", re.ASCII)


def cells_of(column: Any) -> list[Any]:
    """The cells as plain objects of Python, without a type in common; None where a cell is masked."""
    if isinstance(column, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(column).tolist()
        plain = np.ma.getdata(column).tolist()
        return [None if is_masked else cell for cell, is_masked in zip(plain, masked, strict=True)]
    if isinstance(column, (list, tuple)):
        return list(column)
    if hasattr(column, "to_pylist"):  # Arrow, whose cells can hold what Python's types cannot
        return [_arrow_cell(cell) for cell in column]
    for method in ("to_list", "tolist"):  # pandas and Polars; NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _arrow_cell(cell: Any) -> Any:
    try:
        return cell.as_py()
    except Exception:  # a date beyond the calendar, a text that is none: empty, and no error that tells of it
        return None


def numbers_of(column: Any) -> Floats:
    """The number of each cell."""
    if type(column) is np.ndarray and column.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a longer float may lie beyond doubles
            return column.astype(np.float64)  # what the loop below gives, too
    return np.array([_number(cell) for cell in cells_of(column)], dtype=np.float64)


def values_of(column: Any, values: Sequence[str]) -> Any:
    """The public value of each cell, as an array of objects."""
    by_text, by_number = {value: value for value in values}, _by_number(values)
    cells = cells_of(column)
    read = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        text = cell if type(cell) is str else _text(cell)
        read[place] = by_text[text] if text in by_text else by_number.get(_number(cell))
    return read


def _by_number(values: Sequence[str]) -> dict[float, str]:
    """Values by the number that they spell, where no other spells it too and doubles tell it from its neighbours."""
    numbers = [_number(value) for value in values]
    pairs, times = zip(numbers, values, strict=True), Counter(numbers)
    return {number: value for number, value in pairs if abs(number) < EXACT and times[number] == 1}


def keys_of(column: Any) -> Any:
    """The key of each cell, as an array of objects."""
    cells = cells_of(column)
    keys = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        text = cell if type(cell) is str else _text(cell)
        keys[place] = text.partition(".")[0] if text is not None and _WHOLE_FLOAT.fullmatch(text) else text
    return keys


def is_float(column: Any) -> bool:
    """Whether the type of the column is one of floats, whatever it holds."""
    kind = getattr(column, "dtype", getattr(column, "type", ""))
    for inner in ("categories", "subtype", "value_type"):  # pandas' categories and sparse cells, Arrow's dictionaries
        kind = getattr(getattr(kind, inner, kind), "dtype", getattr(kind, inner, kind))
    return str(kind).lower().startswith(("float", "double", "halffloat"))


def _plain(cell: Any) -> Any:
    """A scalar of NumPy as Python's, and a complex number without an imaginary part as its real one."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    return cell.real if isinstance(cell, complex) and cell.imag == 0 else cell


def _number(cell: Any) -> float:
    cell = _plain(cell)
    if isinstance(cell, str):
        cell = _TRUTHS.get(cell.casefold(), cell)
    try:
        return float(cell)
    except OverflowError:  # a whole number beyond doubles lies beyond all bounds
        return float("inf") if cell > 0 else float("-inf")
    except Exception:  # whatever a cell of another type raises would tell of it
        return float("nan")


def _text(cell: Any) -> str | None:
    cell = _plain(cell)
    if isinstance(cell, date) or type(cell).__name__ == "UUID":
        return str(cell)
    if isinstance(cell, bytes):
        return f"bytes {cell.hex()}"  # a text of digits may be somebody else
    if isinstance(cell, Decimal):
        return str(int(cell)) if cell.is_finite() and abs(cell) < _LONGEST and cell == int(cell) else None
    if isinstance(cell, (str, bool, int)):
        try:
            return str(cell)
        except ValueError:  # Python spells no whole number of more than 4,300 digits
            return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else None
