"""Columns as the features of a linear model: moved and scaled by public numbers, empty rows at 0."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.kernel.contract import Public
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Bools, Floats
from discreet.schema import Column, Type

SHAPING = ("centre", "scale", "intercept")  # parameters that shape features
_NUMBERS = (Type.INTEGER, Type.NUMBER, Type.BOOLEAN, Type.DATE, Type.DATETIME)


def vector(numbers: Any, name: str, size: int | None = None) -> Floats:
    """Public numbers as a flat array of doubles, every one finite."""
    fix = "Give a flat list or array of finite numbers."
    try:
        parsed = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad(name, "must hold numbers", type(numbers).__name__, fix) from None
    if parsed.ndim != 1 or (size is not None and parsed.size != size):
        rule = "must be a flat list of numbers" + (f", {size} of them" if size is not None else "")
        raise bad(name, rule, parsed.shape, fix)
    if not np.isfinite(parsed).all():
        raise bad(name, "must hold finite numbers", numbers, fix)
    return parsed


def require_shaping(public: Public, features: int) -> None:
    """Refuses parameters of the shape that do not fit so many columns."""
    if not isinstance(public.get("intercept", False), bool):
        raise bad("intercept", "must be true or false", public["intercept"], "Leave it out for none.")
    vector(public.get("centre", [0.0] * features), "centre", features)
    if (vector(public.get("scale", [1.0] * features), "scale", features) <= 0).any():
        raise bad("scale", "must hold positive numbers", public["scale"], "Give the width of each column's bounds.")


def require_numbers(columns: Sequence[Column]) -> None:
    """Refuses categories: their places are no numbers to calculate with."""
    for column in columns:
        if column.type not in _NUMBERS:
            raise bad(f"column {column.name!r}", "must hold numbers", str(column.type), "Leave it out.")


def features(chunk: UnitRows, names: Sequence[str], public: Public, is_complete: Bools) -> list[Floats]:
    """(x − centre)/scale of each column, and 1 for the intercept; 0 in rows that are not complete."""
    centre = public.get("centre", [0.0] * len(names))
    scale = public.get("scale", [1.0] * len(names))
    shaped = [
        np.where(is_complete, _shaped(chunk.columns[name], float(middle), float(width)), 0.0)
        for name, middle, width in zip(names, centre, scale, strict=True)
    ]
    return [*shaped, is_complete.astype(np.float64)] if public.get("intercept", False) else shaped


def _shaped(values: Floats, middle: float, width: float) -> Floats:
    centred = values - middle if middle else values
    return centred / width if width != 1 else centred


def complete(chunk: UnitRows) -> Bools:
    """Rows in which every column is there and finite."""
    is_complete = np.ones(chunk.size, dtype=np.bool_)
    for column in chunk.columns.values():
        is_complete &= np.isfinite(column)
    return is_complete


def unit_sums(chunk: UnitRows, values: Floats) -> Floats:
    """For each unit the sum over its rows, added from the first to the last: bincount adds one by one."""
    sums: Floats = np.bincount(chunk.unit_of_row, weights=values, minlength=chunk.units).astype(np.float64, copy=False)
    return sums
