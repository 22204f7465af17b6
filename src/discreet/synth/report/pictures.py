"""Pictures of a page as SVG that needs nothing else, each with a description and the same numbers as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.inert import visible

_WIDTH, _LINE, _LETTER, _LONGEST = 360, 20, 6.6, 18  # as wide as a phone
_CELL, _MOST_FEATURES = 16, 40


@dataclass(frozen=True)
class Picture:
    """An SVG, what it shows in a sentence, and the table that says the same."""

    svg: str
    alt: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Bar:
    """One bar: a label, a share of 100, and ± of what was measured."""

    label: str
    share: float
    moe: float


def bars(name: str, shown: Sequence[Bar], of: str) -> Picture:
    """Bars from 0, each with its number."""
    largest = max((bar.share + bar.moe for bar in shown), default=0.0) or 1.0
    left = 10 + round(_LETTER * max((len(short(bar.label)) for bar in shown), default=0))
    scale = (_WIDTH - left - 40) / largest
    parts = []
    for place, bar in enumerate(shown):
        y, width = _LINE * place, round(bar.share * scale, 1)
        low, high = (round(left + max(end, 0.0) * scale, 1) for end in (bar.share - bar.moe, bar.share + bar.moe))
        parts += [
            f'<text x="{left - 6}" y="{y + 14}" text-anchor="end">{text(short(bar.label))}</text>',
            f'<rect x="{left}" y="{y + 3}" width="{width}" height="{_LINE - 6}"/>',
            f'<path d="M{low} {y + 10}H{high}M{low} {y + 7}v6M{high} {y + 7}v6"/>',
            f'<text x="{high + 4}" y="{y + 14}">{bar.share:.1f}</text>',
        ]
    highest = sorted(shown, key=lambda bar: -bar.share)[:3]
    listed = ", ".join(f"{bar.label} {bar.share:.1f}" for bar in highest)
    alt = f"Bars of {name}: of 100 {of}, the most are {listed}."
    rows = tuple((bar.label, f"{bar.share:.2f}", f"{bar.moe:.2f}") for bar in shown)
    return Picture(_svg(_WIDTH, _LINE * len(shown), alt, parts), alt, (name, f"of 100 {of}", "± when measured"), rows)


def matrix(names: Sequence[str], pairs: Sequence[tuple[int, int]], deviations: Sequence[str]) -> Picture:
    """A square for each pair of columns, filled where it was measured; of many columns those in a pair alone."""
    rows = tuple(
        (names[left], names[right], deviation) for (left, right), deviation in zip(pairs, deviations, strict=True)
    )
    header = ("column", "with column", "σ of one count")
    inside = sorted({place for pair in pairs for place in pair})
    shown = list(range(len(names))) if len(names) <= _MOST_FEATURES else inside[:_MOST_FEATURES]
    place_of = {feature: place for place, feature in enumerate(shown)}
    left = 30 + round(_LETTER * max(len(short(names[feature])) for feature in shown))
    chosen = {(place_of[a], place_of[b]) for a, b in pairs if a in place_of and b in place_of}
    parts = [
        f'<text x="{left + _CELL * place + _CELL / 2}" y="11" text-anchor="middle" class="small">{place + 1}</text>'
        for place in range(len(shown) - 1)
    ]
    for row, feature in enumerate(shown):
        y = _CELL * row + 16
        label = text(f"{row + 1} {short(names[feature])}")
        parts.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{label}</text>')
        for column in range(row):
            kind = "full" if (column, row) in chosen else "void"
            x, size = left + _CELL * column + 1, _CELL - 2
            parts.append(f'<rect x="{x}" y="{y + 1}" width="{size}" height="{size}" class="{kind}"/>')
    alt = f"A grid of {len(shown)} columns against each other, with {len(chosen)} filled squares for measured pairs."
    width = max(_WIDTH, left + _CELL * len(shown) + 6)
    return Picture(_svg(width, _CELL * len(shown) + 20, alt, parts), alt, header, rows)


def short(label: str) -> str:
    """A label that fits beside a picture."""
    shown = visible(label)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def text(words: str) -> str:
    """The text for HTML and SVG: seen as it is, run nowhere."""
    return escape(visible(words))


def _svg(width: int, height: int, alt: str, parts: Sequence[str]) -> str:
    head = f'<svg class="own" viewBox="0 0 {width} {height}" role="img" aria-label="{text(alt)}">'
    return f"{head}{''.join(parts)}</svg>"
