"""Numbers computed from an answer, with an honest ± of their own: shares, differences, ratios.

They use the laws of noise that the answer's columns state, so they hold at the answer's level.  A column made of
several noises states no law; then both of its intervals are used at once, and the level falls to 1 − 2(1 − level),
which the result states.  Rows that were picked by their noisy values (HAVING, ORDER BY with LIMIT) are not a fair
sample of noise: no interval here, nor the answer's own, corrects for that choice.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.amounts import float_down, float_up
from discreet.answer.interval import quotient_range
from discreet.answer.spread import pair_radius, sum_radius
from discreet.errors import bad
from discreet.inert import visible

if TYPE_CHECKING:
    from discreet.answer.answer import Answer
    from discreet.answer.column import Column

_OWN = Fraction(3, 4)  # of 1 − level, for a row's own noise in its share; the rest is for all other rows


@dataclass(frozen=True)
class Derived:
    """A value and its interval.  Ends of None are not bounded at this level; a value of None has no meaning."""

    name: str
    row: dict[str, Any]
    value: int | float | None
    low: int | float | None
    high: int | float | None
    level: Fraction
    of: str | None = None  # what is counted under a cap, as in the columns it is made from

    def __str__(self) -> str:
        from discreet.answer.show import number, percent

        wide = None if self.low is None or self.high is None else (self.high - self.low) / 2
        value, *ends = (None if v is None else number(v, wide) for v in (self.value, self.low, self.high))
        between = " to ".join(end or "no bound" for end in ends)
        capped = "" if self.of is None else f", {self.of}"
        return visible(f"{self.name}: {value or 'unknown'} ({between}, with probability {percent(self.level)}){capped}")


def share(answer: "Answer", column: str) -> tuple[Derived, ...]:
    """n_i/Σn for each row, within [0, 1]: n_i and the sum of all others each in its own interval.

    For counts, and sums of numbers that are never negative.
    """
    counts = answer.column(column)
    if counts.law is None or counts.signed:
        rule = "must be a count, or a sum of numbers with a lower bound of 0 or more, to have shares"
        raise bad("column", rule, column, "Ask for COUNT(*), or for a sum of such a column.")
    missed, m = 1 - answer.level, len(answer) - 1
    own_radius = sum_radius(counts.law, 1, 1 - _OWN * missed)
    others_radius = sum_radius(counts.law, m, 1 - (1 - _OWN) * missed)
    steps = [_steps(counts, i) for i in range(len(answer))]
    total = sum(steps)
    shares = []
    for i, count in enumerate(steps):
        others = total - count
        low = _part(max(count - own_radius, 0), max(others + others_radius, 0), 0)
        high = _part(max(count + own_radius, 0), max(others - others_radius, 0), 1)
        value = min(max(_part(max(count, 0), max(others, 0), Fraction(1, 2)), low), high)
        shares.append(_derived_value(f"share of {column}", answer, i, value, (low, high), of=_count_words(counts)))
    return tuple(shares)


def difference(answer: "Answer", column: str, a: Any, b: Any) -> Derived:
    """value(a) − value(b): two draws of one law, by the exact law of their difference."""
    x, i, j = answer.column(column), answer.row_index(a), answer.row_index(b)
    name, of = f"difference of {column}", _count_words(x)
    if i == j:
        return _derived_value(name, answer, i, Fraction(0), (Fraction(0), Fraction(0)), of=of)
    row = {"a": dict(zip(answer.keys, answer.labels[i], strict=True))}
    row |= {"b": dict(zip(answer.keys, answer.labels[j], strict=True))}
    if x.law is None:
        return _box(name, answer, row, _less(_triple(x, i), _triple(x, j)), of=of)
    value, radius = _exact(x, i) - _exact(x, j), sum_radius(x.law, 2, answer.level) * _step(x)
    return _derived_value(name, answer, row, value, (value - radius, value + radius), of=of)


def column_difference(answer: "Answer", a: str, b: str) -> tuple[Derived, ...]:
    """a − b row by row; the same noisy part taken from itself is exactly 0."""
    x, y, name = answer.column(a), answer.column(b), f"{a} - {b}"
    of, rows = _count_words(x, y), range(len(answer))
    if x.law is None or y.law is None:
        return tuple(_box(name, answer, i, _less(_triple(x, i), _triple(y, i)), of=of) for i in rows)
    radius = _difference_radius(x, y, answer.level)
    values = [_exact(x, i) - _exact(y, i) for i in rows]
    return tuple(_derived_value(name, answer, i, v, (v - radius, v + radius), of=of) for i, v in enumerate(values))


def ratio(answer: "Answer", a: str, b: str) -> tuple[Derived, ...]:
    """a/b row by row, by Fieller's set; no ends where b may be 0 at this level."""
    x, y, name = answer.column(a), answer.column(b), f"{a} / {b}"
    of, rows = _count_words(x, y), range(len(answer))
    if not _independent(x, y):
        return tuple(_box(name, answer, i, _over(_triple(x, i), _triple(y, i)), of=of) for i in rows)
    half = (1 - answer.level) / 2
    top = np.array([float(_steps(x, i)) for i in rows])
    bottom = np.array([float(_steps(y, i)) for i in rows])
    sign = np.where((bottom < 0) & y.signed, -1.0, 1.0)
    room = sign * bottom - y.law.radius(1 - half)
    bounded = room > 0
    reach = (np.abs(top) + x.law.radius(1 - half)) / np.where(bounded, room, 1.0) * (1 + 1e-6)
    radius = pair_radius(x.law, y.law, answer.level)
    ends = quotient_range(sign * top, sign * bottom, radius, reach).scaled(float(_step(x) / _step(y)))
    ratios = []
    for i in rows:
        value = _exact(x, i) / _exact(y, i) if _steps(y, i) * sign[i] > 0 else None
        limits = (Fraction(float(ends.low[i])), Fraction(float(ends.high[i]))) if bounded[i] else None
        ratios.append(_derived_value(name, answer, i, value, limits, of=of))
    return tuple(ratios)


def _count_words(*columns: "Column") -> str | None:
    """What the columns count under a cap."""
    return " and ".join(dict.fromkeys(column.of for column in columns if column.of is not None)) or None


# --- two columns -----------------------------------------------------------------------------------------------------


def _difference_radius(x: "Column", y: "Column", level: Fraction) -> Fraction:
    if x.part is not None and x.part == y.part:
        return Fraction(0)
    if not _independent(x, y):  # perhaps one draw in both: each at half of what may be missed
        higher_level = 1 - (1 - level) / 2
        radius: Fraction = x.law.radius(higher_level) * _step(x) + y.law.radius(higher_level) * _step(y)
        return radius
    if (x.kind, x.scale, x.step) == (y.kind, y.scale, y.step):
        return sum_radius(x.law, 2, level) * _step(x)
    times = float(_step(y) / _step(x))
    return Fraction(float(pair_radius(x.law, y.law, level)(np.array([times]))[0])) * _step(x)


def _independent(x: "Column", y: "Column") -> bool:
    """Whether both are single noisy parts, and not the same one."""
    are_single = x.law is not None and y.law is not None and x.part is not None and y.part is not None
    return are_single and x.part != y.part


# --- two intervals that hold at once ---------------------------------------------------------------------------------

_Triple = tuple[Fraction, Fraction, Fraction]  # value, low, high


def _triple(column: "Column", i: int) -> _Triple:
    if column.low[i] is None:
        rule = "must be a column with an interval"
        raise bad("column", rule, column.name, "A value that was chosen is off by ranks; ask for a count or a mean.")
    value: Any = column.value[i]
    return Fraction(value), Fraction(column.low[i]), Fraction(column.high[i])


def _less(x: _Triple, y: _Triple) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    return x[0] - y[0], (x[1] - y[2], x[2] - y[1])


def _over(x: _Triple, y: _Triple) -> tuple[Fraction | None, tuple[Fraction, Fraction] | None]:
    value = x[0] / y[0] if y[0] else None
    if y[1] <= 0 <= y[2]:
        return value, None
    corners = [top / bottom for top in x[1:] for bottom in y[1:]]
    return value, (min(corners), max(corners))


def _box(name: str, answer: "Answer", row: Any, triple: Any, *, of: str | None) -> Derived:
    level = max(1 - 2 * (1 - answer.level), Fraction(0))
    return _derived_value(name, answer, row, *triple, level=level, of=of)


# --- small parts -----------------------------------------------------------------------------------------------------


def _derived_value(
    name: str,
    answer: "Answer",
    row: Any,
    value: Fraction | None,
    ends: tuple[Fraction, Fraction] | None,
    *,
    level: Fraction | None = None,
    of: str | None,
) -> Derived:
    labels = row if isinstance(row, dict) else dict(zip(answer.keys, answer.labels[row], strict=True))
    low = None if ends is None else _number(ends[0], float_down(ends[0]))
    high = None if ends is None else _number(ends[1], float_up(ends[1]))
    number = None if value is None else _number(value, float(value))
    return Derived(name, labels, number, low, high, answer.level if level is None else level, of)


def _number(value: Fraction, rounded: float) -> int | float:
    return value.numerator if value.denominator == 1 else rounded


def _part(count: int, others: int, default: int | Fraction) -> Fraction:
    return Fraction(count, count + others) if count + others > 0 else Fraction(default)


def _step(column: "Column") -> Fraction:
    assert column.step is not None  # a column with a law has a step
    return column.step


def _steps(column: "Column", i: int) -> int:
    """The noisy whole number behind a value."""
    value: Any = column.value[i]
    return round(Fraction(value) / _step(column))


def _exact(column: "Column", i: int) -> Fraction:
    return _steps(column, i) * _step(column)
