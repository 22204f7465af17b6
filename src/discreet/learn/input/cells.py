"""Cells that a caller hands over, each read by its own value: no cell may change how another is read.

NumPy and pandas give a column one type, and one person's empty or odd cell changes it: whole numbers become floats, a
list with a text becomes texts.  So every reading here gives a cell the same meaning in a column of any type.

    number   a number, a boolean as 0 or 1, a text that spells one; NaN for anything else
    text     a text, a whole number's digits, True or False; None for anything else

A masked cell is empty.
"""

from typing import Any

import numpy as np

from discreet.ndarrays import Floats

_TRUTHS = {"True": 1.0, "False": 0.0}


def cells_of(column: Any) -> list[Any]:
    """The cells as plain objects of Python, without a type in common; None where a cell is masked."""
    if isinstance(column, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(column).tolist()
        plain = np.ma.getdata(column).tolist()
        return [None if is_masked else cell for cell, is_masked in zip(plain, masked, strict=True)]
    if isinstance(column, (list, tuple)):
        return list(column)
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; pandas and Polars; NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def numbers_of(column: Any) -> Floats:
    """The number of each cell."""
    if type(column) is np.ndarray and column.dtype.kind in "biuf":
        return column.astype(np.float64)  # what the loop below gives, too
    return np.array([_number(cell) for cell in cells_of(column)], dtype=np.float64)


def texts_of(column: Any) -> Any:
    """The text of each cell, as an array of objects."""
    cells = cells_of(column)
    texts = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        texts[place] = cell if type(cell) is str else _text(cell)
    return texts


def _plain(cell: Any) -> Any:
    """A scalar of NumPy as Python's, and a complex number without an imaginary part as its real one."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    return cell.real if isinstance(cell, complex) and cell.imag == 0 else cell


def _number(cell: Any) -> float:
    cell = _plain(cell)
    if isinstance(cell, str):
        cell = _TRUTHS.get(cell, cell)
    try:
        return float(cell)
    except OverflowError:  # a whole number beyond doubles lies beyond all bounds
        return float("inf") if cell > 0 else float("-inf")
    except (TypeError, ValueError, AttributeError):
        return float("nan")


def _text(cell: Any) -> str | None:
    cell = _plain(cell)
    if isinstance(cell, (str, bool, int)):
        return str(cell)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else None
