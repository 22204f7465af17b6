"""The stored form of an answer, read back strictly: every field of its kind, or one refusal whatever is wrong."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from discreet.answer.column import LAWS, Column, Plain
from discreet.errors import IntegrityError
from discreet.fix import Fix

FORMAT = 1
_FRACTION = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?")
_LISTS = ("value", "low", "high", "moe")
_TEXT = ("name", "mechanism")
_OPTIONAL_TEXT = ("epsilon", "kind", "part")
_OPTIONAL_NUMBERS = ("ranks", "shortfall")
_LATER = {"of": None}  # fields that answers of an earlier version were stored without


def fields_of(stored: bytes) -> dict[str, Any]:
    """What the bytes of an answer hold, by the names of its fields; refused where they are not an answer's."""
    try:
        kept = json.loads(stored, parse_constant=_refuse, parse_float=_finite)
        return _fields(kept)
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError, AttributeError):
        raise unreadable() from None


def unreadable() -> IntegrityError:
    """The one refusal of bytes that are no answer: what they hold instead is not repeated."""
    why = "Its bytes are not those of an answer that this version or an earlier one wrote."
    fix = Fix("If the ledger was damaged, put back a copy of it. To verify it:", "ledger", {"verify": True})
    return IntegrityError("The stored answer cannot be read.", why, fix)


def _fields(kept: Any) -> dict[str, Any]:
    known = {"format", "dataset", "question", "keys", "labels", "columns", "level", "cost", "caveats", "plan"}
    _require(isinstance(kept, dict) and set(kept) == known and type(kept["format"]) is int)
    _require(kept["format"] == FORMAT)
    keys, labels = _each(kept["keys"], _is_text), _each(kept["labels"], lambda label: isinstance(label, list))
    level = _fraction(kept["level"])
    _require(all(len(label) == len(keys) for label in labels) and 0 < level < 1)
    _require(all(isinstance(kept[name], str) for name in ("dataset", "question")))
    _require(all(isinstance(kept[name], dict) for name in ("cost", "plan")) and _fits_cost(kept["cost"]))
    _require(all(map(_is_text, kept["plan"].get("words", []))))
    return {
        "dataset": kept["dataset"],
        "question": kept["question"],
        "keys": keys,
        "labels": tuple(_each(label, _is_plain) for label in labels),
        "columns": tuple(_column(one, len(labels)) for one in _each(kept["columns"], lambda one: True)),
        "level": level,
        "cost": kept["cost"],
        "caveats": _each(kept["caveats"], _is_text),
        "plan": kept["plan"],
    }


def _column(kept: Any, rows: int) -> Column:
    """The inverse of `Column.stored`."""
    _require(isinstance(kept, dict))
    kept = _LATER | kept
    _require(set(kept) == {field.name for field in fields(Column)})
    _require(all(isinstance(kept[name], str) for name in _TEXT))
    _require(all(kept[name] is None or isinstance(kept[name], str) for name in (*_OPTIONAL_TEXT, *_LATER)))
    _require(all(kept[name] is None or type(kept[name]) in (int, float) for name in _OPTIONAL_NUMBERS))
    _require(isinstance(kept["signed"], bool) and (kept["kind"] is None or kept["kind"] in LAWS))
    lists = {name: _each(kept[name], _is_plain) for name in _LISTS}
    _require(all(len(each) == rows for each in lists.values()))
    exactly = {name: None if kept[name] is None else _fraction(kept[name]) for name in ("scale", "step")}
    _require(all(value is None or value > 0 for value in exactly.values()))
    return Column(**(kept | lists | exactly))


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
