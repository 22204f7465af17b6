"""A picture of estimates: bars with their intervals over an axis with numbers, as SVG."""

import math
from collections.abc import Iterable
from html import escape

from discreet.inert import visible
from discreet.local.estimate import Row

_MOST_BARS = 60
_WIDTH, _LINE, _FOOT = 440, 24, 26  # readable on a phone at three quarters of that
_LETTER, _LONGEST_LABEL = 7.5, 18
_TICKS = 5


def picture(rows: Iterable[Row], unit: str, reach: tuple[float, float]) -> str:
    """Bars from 0 with their intervals; the axis holds `reach` and 0."""
    shown = list(rows)[:_MOST_BARS]
    low, high = min(0.0, reach[0]), max(0.0, reach[1])
    left = 16 + round(_LETTER * max((len(_label(row)) for row in shown), default=0))
    scale = (_WIDTH - left - 30) / ((high - low) or 1.0)

    def x(number: float) -> float:
        return round(left + (number - low) * scale, 2)

    height = _LINE * len(shown) + 6
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height + _FOOT}" role="img" aria-label="{_text(_in_words(shown, unit))}">']
    for number in ticks(low, high):
        parts += [
            f'<path d="M{x(number)} 0V{height}" stroke="var(--line)" fill="none"/>',
            f'<text x="{x(number)}" y="{height + 16}" text-anchor="middle">{number:g}</text>',
        ]
    for place, row in enumerate(shown):
        y = _LINE * place + 5
        start, end = sorted((x(0), x(row.estimate)))
        parts += [
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{_text(_label(row))}</text>',
            f'<rect x="{start}" y="{y + 2}" width="{round(end - start, 2)}" height="{_LINE - 8}" fill="var(--bar)" '
            'fill-opacity="0.4"/>',
            f'<path d="M{x(row.low)} {y + 10}H{x(row.high)}M{x(row.low)} {y + 6}v8M{x(row.high)} {y + 6}v8" '
            'stroke="currentColor" stroke-width="1.5" fill="none"/>',
        ]
    parts.append(f'<path d="M{x(0)} 0V{height}" stroke="var(--faint)" fill="none"/></svg>')
    return "".join(parts)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between the two, some five of them.

    >>> ticks(-0.02, 1.01)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    width = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(width / _TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if width / (power * factor) <= _TICKS + 1)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def value_text(row: Row) -> str:
    """The value of a row, or both of a pair."""
    return " × ".join(map(str, row.value)) if isinstance(row.value, tuple) else str(row.value)


def _label(row: Row) -> str:
    text = value_text(row)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _in_words(rows: list[Row], unit: str) -> str:
    listed = "; ".join(f"{value_text(row)} {row.estimate:.3f} ({row.low:.3f} to {row.high:.3f})" for row in rows[:12])
    return f"Estimated {unit} with intervals: {listed}."


def _text(text: str) -> str:
    return escape(visible(text))
