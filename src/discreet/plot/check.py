"""Bars with their intervals as SVG: numbers of a check, one below the other, for pages without scripts.

Inks are those of all pictures (`style`); text and axis take the colour of the page.  A bar with a second mark compares
two tables, told apart by shape as well as by colour.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.inert import visible
from discreet.plot.style import PENS

MOST_BARS = 40
_WIDTH, _LINE, _FOOT = 340, 40, 28  # as wide as a phone shows
_LEFT, _RIGHT, _BAR, _LONGEST = 10, 20, 18, 44  # the label stands above its bar
_TICKS = 5


@dataclass(frozen=True)
class Bar:
    """A number with the ends of its interval, and the number of the other table where there is one."""

    label: str
    value: float
    low: float
    high: float
    other: float | None = None


def bars_svg(bars: Sequence[Bar], *, alt: str, note: str = "") -> str:
    """The bars from 0 with their intervals, over an axis with numbers; as many as `MOST_BARS`, and a note below."""
    shown = list(bars)[:MOST_BARS]
    ends = [
        end for bar in shown for end in (bar.low, bar.high, bar.value, *(() if bar.other is None else (bar.other,)))
    ]
    low, high = min([0.0, *ends]), max([0.0, *ends]) or 1.0
    scale = (_WIDTH - _LEFT - _RIGHT) / (high - low)

    def x(number: float) -> float:
        return float(round(_LEFT + (number - low) * scale, 2))

    height = _LINE * len(shown) + 6
    foot = _FOOT + (_LINE if note else 0)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height + foot}" role="img"'
    parts = [f'{head} aria-label="{_text(alt)}"><title>{_text(alt)}</title>']
    for number in _ticks(low, high):
        parts.append(f'<path d="M{x(number)} 0V{height}" stroke="currentColor" stroke-opacity="0.2" fill="none"/>')
        parts.append(f'<text x="{x(number)}" y="{height + 17}" {_FONT} text-anchor="middle">{number:g}</text>')
    for place, bar in enumerate(shown):
        y = _LINE * place + _BAR + 3
        start, end = sorted((x(0), x(bar.value)))
        fill = f'fill="{PENS[1].colour}" fill-opacity="0.45"'
        parts += [
            f'<text x="{_LEFT}" y="{y - 3}" {_FONT}>{_text(_label(bar))}</text>',
            f'<rect x="{start}" y="{y + 2}" width="{round(end - start, 2)}" height="{_BAR - 2}" {fill}/>',
            f'<path d="M{x(bar.low)} {y + 10}H{x(bar.high)}M{x(bar.low)} {y + 6}v8M{x(bar.high)} {y + 6}v8" '
            'stroke="currentColor" stroke-width="1.5" fill="none"/>',
        ]
        if bar.other is not None:
            middle = x(bar.other)
            diamond = f"M{middle} {y + 4}l5 6l-5 6l-5 -6z"
            parts.append(f'<path d="{diamond}" fill="{PENS[0].colour}" stroke="currentColor" stroke-width="0.6"/>')
    parts.append(f'<path d="M{x(0)} 0V{height}" stroke="currentColor" stroke-opacity="0.6" fill="none"/>')
    if note:
        parts.append(f'<text x="8" y="{height + foot - 8}" {_FONT}>{_text(note)}</text>')
    parts.append("</svg>")
    return "".join(parts)


_FONT = 'fill="currentColor" font-family="system-ui, sans-serif" font-size="13"'


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between the two, some five of them."""
    width = high - low
    power = 10.0 ** math.floor(math.log10(width / _TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if width / (power * factor) <= _TICKS + 1)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _label(bar: Bar) -> str:
    return bar.label if len(bar.label) <= _LONGEST else f"{bar.label[: _LONGEST - 1]}…"


def _text(text: str) -> str:
    return escape(visible(text))
