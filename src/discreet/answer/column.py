"""One answered column: its values, their ends and their mechanism, all plain enough for JSON."""

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.answer.noisy import Estimates
from discreet.errors import bad
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace

Plain = None | bool | int | float | str
Cell = Plain | tuple[Plain, ...]  # several favourites, best guess first

LAWS = {"laplace": DiscreteLaplace, "gaussian": RoundedGaussian, "discrete-gaussian": DiscreteGaussian}
_FRACTIONS = ("scale", "step")
LISTS = ("value", "low", "high", "moe")
_DIGITS = 6
_UP = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_CEILING, Emin=-999, Emax=999)


@dataclass(frozen=True)
class Column:
    """Values row by row, each with its ends and `moe`, the larger distance to an end.

    `kind` (one of LAWS), `scale` and `step` are those of the noise where the column is one noisy part, and `part` names
    that part, so that columns made from the same draw can be recognized.  `ranks` and `shortfall`, in rows, replace the
    ends where a value was chosen, from points a `step` apart or among public values.  `of` states what is counted
    under a cap, where one can bind, and how coarse the points are, where the values are finer.
    """

    name: str
    mechanism: str
    value: tuple[Cell, ...]
    low: tuple[Any, ...]
    high: tuple[Any, ...]
    moe: tuple[Any, ...]
    epsilon: str | None = None
    scale: Fraction | None = None
    step: Fraction | None = None
    kind: str | None = None
    part: str | None = None
    signed: bool = False  # whether exact values may lie below 0
    ranks: float | None = None
    shortfall: float | None = None
    of: str | None = None

    @property
    def law(self) -> Any:
        """The law of the noise in steps, or None where there is no single one."""
        if self.kind is None or self.scale is None or self.step is None:
            return None
        return LAWS[self.kind](self.scale)

    def take(self, order: Sequence[int]) -> "Column":
        """The column with only these rows, in this order."""
        lists: dict[str, Any] = {name: tuple(getattr(self, name)[i] for i in order) for name in LISTS}
        return replace(self, **lists)

    def to_json(self) -> dict[str, Any]:
        """The column in the reply of `ask`; its values are in the rows."""
        facts = {"name": self.name, "mechanism": self.mechanism}
        numbers = {name: _number(getattr(self, name)) for name in _FRACTIONS}
        optional = {"ranks": self.ranks, "shortfall": self.shortfall, "of": self.of}
        present = {name: value for name, value in optional.items() if value is not None}
        return {**facts, **numbers, "epsilon": self.epsilon, **present}

    def to_stored(self) -> dict[str, Any]:
        """Every field, exactly, for the ledger."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "of" or self.of is not None}
        exact = {name: None if values[name] is None else str(values[name]) for name in _FRACTIONS}
        return values | {name: list(map(one_text, values[name])) for name in LISTS} | exact


def column(name: str, estimates: Estimates, *, mechanism: str, kind: str | None = None, **facts: Any) -> Column:
    """The column of such estimates; Fractions become floats, ends rounded outward, dates ISO text.

    >>> counts = column("n", Estimates([12], [2], [22]), mechanism="Laplace", kind="laplace", scale=Fraction(3))
    >>> counts.value, counts.moe
    ((12,), (10,))
    """
    if kind is not None and kind not in LAWS:
        raise bad("kind", f"must be one of {', '.join(LAWS)}", kind, "Leave it out where a column has several noises.")
    value = tuple(tuple(map(plain, v)) if isinstance(v, tuple) else plain(v) for v in estimates.value)
    low = tuple(None if v is None else _end(v, amounts.float_down) for v in estimates.low)
    high = tuple(None if v is None else _end(v, amounts.float_up) for v in estimates.high)
    moe = tuple(_moe(v, a, b) for v, a, b in zip(estimates.value, estimates.low, estimates.high, strict=True))
    facts |= {"kind": kind, "ranks": estimates.ranks, "shortfall": estimates.shortfall}
    return Column(name, mechanism, value, low, high, moe, **facts)


def plain(value: Any) -> Plain:
    """A released value as JSON has it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return _number(value)
        case date():
            return value.isoformat()
        case _:
            raise TypeError(f"{type(value).__name__} is no released value")


def one_text(value: Cell) -> Plain:
    """Several favourites as one text, any other value unchanged."""
    return ", ".join(map(label_text, value)) if isinstance(value, tuple) else value


def one_value(value: Cell) -> Any:
    """Several favourites as a list, any other value unchanged."""
    return list(value) if isinstance(value, tuple) else value


def label_text(label: Plain) -> str:
    """A label as text.

    >>> label_text(True), label_text(0.5), label_text("f")
    ('true', '0.5', 'f')
    """
    return str(label).lower() if isinstance(label, bool) else str(label)


def _number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return value.numerator if value.denominator == 1 else float(value)


def _end(value: Any, outward: Any) -> Plain:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(outward(value))
    return plain(value)


def _moe(value: Any, low: Any, high: Any) -> int | float | None:
    """max(high − value, value − low): exact for whole numbers, else rounded up to six digits."""
    if low is None or high is None:
        return None
    floats = [isinstance(number, float) for number in (value, low, high)]
    if not any(floats):
        distance = Fraction(max(high - value, value - low))
        return distance.numerator if distance.denominator == 1 else float(amounts.rounded_up(distance, _DIGITS))
    quick = _rounded_up(max(high - value, value - low)) if all(floats) else None
    if quick is not None:
        return quick
    distance = max(Fraction(high) - Fraction(value), Fraction(value) - Fraction(low))
    return float(amounts.rounded_up(distance, _DIGITS))


def _rounded_up(difference: float) -> float | None:
    """A difference of floats rounded up to six digits, where its own rounding does not matter; None where it may."""
    below, above = (math.nextafter(difference, end) for end in (-math.inf, math.inf))
    if not 0 < below < above < math.inf:
        return None
    rounded = _UP.create_decimal_from_float(above)
    return float(rounded) if rounded == _UP.create_decimal_from_float(below) else None
