"""What a caller of an attack gives: arrays, checked without quoting them, and the ε that answers were released at."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.result import RAW
from discreet.errors import bad_private
from discreet.ndarrays import Bools, Floats


def numbers(values: Any, name: str, *, dimensions: int) -> Floats:
    """The values as finite floats in so many dimensions.

    >>> numbers([[1, 2]], "answers", dimensions=2).shape
    (1, 2)
    """
    shape = ("a list", "a list of rows, all of one length")[dimensions - 1]
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        raise bad_private(name, f"must be {shape} of numbers", "Leave out empty cells and texts.")
    return array


def column_names(table: Any) -> list[Any]:
    """What the columns of a mapping, a frame, an Arrow table or an array with names are called; none of anything else.

    >>> column_names({"zip": ["19146"], "sex": ["f"]}), column_names(3)
    (['zip', 'sex'], [])
    """
    if isinstance(table, Mapping):
        return list(table)
    named = getattr(table, "column_names", None)  # before `columns`, which of an Arrow table are its cells
    named = getattr(table, "columns", None) if named is None else named
    named = getattr(getattr(table, "dtype", None), "names", None) if named is None else named
    return list(named) if isinstance(named, Iterable) and not isinstance(named, str) else []


def cells_of(column: Any) -> list[Any] | None:
    """The cells of a list, a series, or a column of Arrow; None of anything else."""
    to_list = getattr(column, "to_pylist", None)
    cells = column if to_list is None else to_list()
    return list(cells) if isinstance(cells, Iterable) else None


def bits(values: Any, name: str, *, length: int) -> Bools:
    """So many truths as 0 and 1.

    >>> bits([True, 0], "secret", length=2)
    array([ True, False])
    """
    array = numbers(values, name, dimensions=1)
    if array.size != length or not np.isin(array, (0, 1)).all():
        raise bad_private(name, f"must be {length} values, each 0 or 1", "Give one for each person or trial.")
    truths: Bools = array == 1
    return truths


def column_of(epsilon: Any) -> str:
    """The key of a result's column: "raw" for answers without noise (None), else ε as it is written.

    >>> column_of(None), column_of("0.50")
    ('raw', '0.5')
    """
    return RAW if epsilon is None else amounts.text_of(amounts.epsilon(epsilon))
