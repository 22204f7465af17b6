"""Read the first stored form of an answer strictly: every field has its type, or one refusal whatever is wrong."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from discreet.answer.column import LAWS, LISTS, Column, Plain
from discreet.errors import IntegrityError
from discreet.fix import Fix

FORMAT = 1
_FRACTION = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?")
_TEXT = ("name", "mechanism")
_OPTIONAL_TEXT = ("epsilon", "kind", "part")
_OPTIONAL_NUMBERS = ("ranks", "shortfall")
_LATER = {"of": None}  # fields that answers of an earlier version were stored without


def fields_of(stored: bytes) -> dict[str, Any]:
    """The fields of the stored answer by name; refused if the bytes are not an answer's."""
    try:
        return _fields(json.loads(stored, parse_constant=_refuse, parse_float=_finite))
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError, AttributeError):
        raise unreadable() from None


def unreadable() -> IntegrityError:
    """The one refusal of bytes that are no answer; it does not repeat them."""
    why = "Its bytes are not those of an answer that this version or an earlier one wrote."
    fix = Fix("If the ledger was damaged, put back a copy of it. To verify it:", "ledger", {"verify": True})
    return IntegrityError("The stored answer cannot be read.", why, fix)


def _fields(stored: Any) -> dict[str, Any]:
    names = {"format", "dataset", "question", "keys", "labels", "columns", "level", "cost", "caveats", "plan"}
    _require(isinstance(stored, dict) and set(stored) == names and type(stored["format"]) is int)
    _require(stored["format"] == FORMAT)
    keys, labels = _each(stored["keys"], _is_text), _each(stored["labels"], lambda label: isinstance(label, list))
    level = _fraction(stored["level"])
    _require(all(len(label) == len(keys) for label in labels) and 0 < level < 1)
    _require(all(isinstance(stored[name], str) for name in ("dataset", "question")))
    _require(all(isinstance(stored[name], dict) for name in ("cost", "plan")) and _fits_cost(stored["cost"]))
    _require(all(map(_is_text, stored["plan"].get("words", []))))
    return {
        "dataset": stored["dataset"],
        "question": stored["question"],
        "keys": keys,
        "labels": tuple(_each(label, _is_plain) for label in labels),
        "columns": tuple(_column(column, len(labels)) for column in _each(stored["columns"], lambda column: True)),
        "level": level,
        "cost": stored["cost"],
        "caveats": _each(stored["caveats"], _is_text),
        "plan": stored["plan"],
    }


def _column(stored: Any, rows: int) -> Column:
    """The inverse of `Column.to_stored`."""
    _require(isinstance(stored, dict))
    stored = _LATER | stored
    _require(set(stored) == {field.name for field in fields(Column)})
    _require(all(isinstance(stored[name], str) for name in _TEXT))
    _require(all(stored[name] is None or isinstance(stored[name], str) for name in (*_OPTIONAL_TEXT, *_LATER)))
    _require(all(stored[name] is None or type(stored[name]) in (int, float) for name in _OPTIONAL_NUMBERS))
    _require(isinstance(stored["signed"], bool) and (stored["kind"] is None or stored["kind"] in LAWS))
    lists = {name: _each(stored[name], _is_plain) for name in LISTS}
    _require(all(len(values) == rows for values in lists.values()))
    exact = {name: None if stored[name] is None else _fraction(stored[name]) for name in ("scale", "step")}
    _require(all(value is None or value > 0 for value in exact.values()))
    return Column(**(stored | lists | exact))


def _each(values: Any, fits: Callable[[Any], bool]) -> tuple[Any, ...]:
    _require(isinstance(values, list) and all(map(fits, values)))
    return tuple(values)


def _fits_cost(cost: Mapping[str, Any]) -> bool:
    texts = all(isinstance(cost.get(name), str) for name in ("epsilon", "neighbours"))
    return texts and all(cost.get(name) is None or isinstance(cost[name], str) for name in ("delta", "unit"))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_plain(value: Any) -> bool:
    return isinstance(value, Plain)


def _fraction(text: str) -> Fraction:
    _require(_FRACTION.fullmatch(text) is not None)
    return Fraction(text)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("not the stored form of an answer")


def _finite(text: str) -> float:
    value = float(text)
    _require(math.isfinite(value))
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not stored")
