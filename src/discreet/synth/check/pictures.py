"""Pictures of a check: errors by how many columns go together, the furthest columns and pairs, correlations.

Each comes with its description, and with the rows that it shows, for who cannot see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.plot.check import MOST_BARS, Bar, bars_svg
from discreet.synth.check.estimates import ACCURACY, MAJORITY, Statistic

if TYPE_CHECKING:
    from discreet.synth.check.result import Check

_MEANS = {"cells": "1 column, cells", "columns": "1 column", "pairs": "2 columns", "triples": "3 columns"}
_TARGET = {ACCURACY: "model of synthetic rows", MAJORITY: "most common class"}


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, its description, and its numbers as a table."""

    title: str
    alt: str
    svg: str
    rows: tuple[dict[str, Any], ...]


def pictures_of(check: "Check", note: str = "") -> list[Picture]:
    """All pictures that the numbers of a check allow, a note in each of them."""
    labelled = [(label, own) for name, label in _MEANS.items() for own in check.all_of(name)]
    drawn = [("Mean Σ|p − q| by how many columns go together", labelled)]
    for name, noun in (("each column", "columns"), ("each pair", "pairs")):
        falling = sorted(check.all_of(name), key=lambda own: -(own.value or 0.0))[:MOST_BARS]
        if falling:
            title = f"Σ|p − q| of {noun}, the furthest first"
            drawn.append((title, [(_columns_text(own), own) for own in falling]))
    correlations = check.all_of("each correlation")[:MOST_BARS]
    if correlations:
        title = "Correlations: real as bars, synthetic as diamonds"
        drawn.append((title, [(_columns_text(own), own) for own in correlations]))
    target = [(label, own) for name, label in _TARGET.items() for own in check.all_of(name) if own.value is not None]
    if target:
        title = f"Share of real {check.noun} whose {target[0][1].columns[0]} is right"
        drawn.append((title, target))
    return [_picture(title, labelled, note) for title, labelled in drawn]


def _picture(title: str, labelled: Sequence[tuple[str, Statistic]], note: str) -> Picture:
    bars = [Bar(label, own.value or 0.0, own.low, own.high, own.synthetic) for label, own in labelled]
    listed = "; ".join(_spoken(bar) for bar in bars[:12])
    alt = f"{note} {title}. {listed}.".strip()
    rows = tuple({"label": label} | own.to_json() for label, own in labelled)
    return Picture(title, alt, bars_svg(bars, alt=alt, note=note), rows)


def _spoken(bar: Bar) -> str:
    other = "" if bar.other is None else f", synthetic {bar.other:.3f}"
    return f"{bar.label} {bar.value:.3f} ({bar.low:.3f} to {bar.high:.3f}){other}"


def _columns_text(own: Statistic) -> str:
    return " × ".join(own.columns)
