"""Two worlds as one HTML page with an ε to drag: every number and path is computed here, the script only swaps them.

The page makes no request; without scripts it shows the ε that it was made for.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from discreet import amounts
from discreet.lecture.document import document, html_table
from discreet.lecture.two_worlds import HEADER, SHOWN, WITH, WITHOUT, Worlds, two_worlds
from discreet.synth.report.style import STYLE

_HUNDREDTHS = (
    10,
    12,
    15,
    20,
    25,
    30,
    35,
    40,
    50,
    60,
    70,
    80,
    90,
    100,
    110,
    120,
    140,
    160,
    180,
    200,
    230,
    260,
    300,
    350,
)
_POSITIONS = tuple(Fraction(number, 100) for number in (*_HUNDREDTHS, 400, 450, 500))
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 320, 64, 34, 12

WORLDS_STYLE = """
:root { --band: #c9deee; --without: #0072b2; --present: #b84e00; }
@media (prefers-color-scheme: dark) { :root { --band: #24435a; --without: #56b4e9; --present: #f0a050; } }
svg.worlds { max-width: 100%; touch-action: pan-y; }
svg.worlds text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.band { fill: var(--band); } .tail { fill: var(--present); }
.without { fill: none; stroke: var(--without); stroke-width: 2.2; }
.present { fill: none; stroke: var(--present); stroke-width: 2.2; stroke-dasharray: 7 4; }
.axis { stroke: var(--faint); fill: none; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 1rem 0; }
form label { flex: 1 1 9rem; display: flex; gap: .75rem; align-items: center; font-weight: bold; }
input[type=range] { flex: 1; min-width: 8rem; height: 2.5rem; accent-color: var(--without); }
input[type=number] { font: inherit; width: 4.5rem; min-height: 2.5rem; color: inherit; background: var(--page);
  border: 1px solid var(--faint); border-radius: .3rem; padding: 0 .5rem; }
ul.key { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
ul.key svg { display: inline-block; width: 2.2rem; height: .9rem; vertical-align: middle; margin-right: .4rem; }
@media (max-width: 30rem) { svg.worlds text { font-size: 22px; } }
noscript p { color: var(--faint); }
:focus-visible { outline: 3px solid var(--without); outline-offset: 2px; }
"""
WORLDS_SCRIPT = """
"use strict";
const places = JSON.parse(document.getElementById("places").textContent);
const slider = document.getElementById("slider"), number = document.getElementById("number");
const cells = document.querySelectorAll("#twin td");
function show(index) {
  const place = places[index];
  slider.value = index;
  number.value = place.epsilon;
  slider.setAttribute("aria-valuetext", "ε = " + place.epsilon);
  for (const name of ["band", "without", "present", "tail"]) {
    document.getElementById(name).setAttribute("d", place[name]);
  }
  place.ticks.forEach((text, i) => { document.getElementById("tick" + i).textContent = text; });
  place.cells.forEach((text, i) => { cells[i].textContent = text; });
  document.getElementById("sentence").textContent = place.sentence;
  document.getElementById("noise").textContent = place.noise;
}
function nearest(value) {
  let best = 0;
  places.forEach((place, i) => {
    if (Math.abs(Math.log(place.epsilon / value)) < Math.abs(Math.log(places[best].epsilon / value))) best = i;
  });
  return best;
}
slider.addEventListener("input", () => show(Number(slider.value)));
number.addEventListener("change", () => {
  const value = Number(number.value);
  show(value > 0 ? nearest(value) : Number(slider.value));
});
document.getElementById("form").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("form").hidden = false;
show(Number(slider.value));
"""


@dataclass(frozen=True)
class MovingWorlds:
    """Two worlds as a part of a page: what is seen and moved, the table, and the data of the script."""

    controls: str
    table: str
    data: str
    intro: str


def moving_worlds(epsilon: Any = 1, delta: Any = 0) -> MovingWorlds:
    """The part, whose ε can be moved from 0.1 to 5; it begins at `epsilon`, at the δ that stays as it is.

    A page has one of them, with `WORLDS_STYLE` and `WORLDS_SCRIPT`.
    """
    first = two_worlds(epsilon, delta)
    epsilons = sorted({*_POSITIONS, first.epsilon})
    places = [_place(two_worlds(value, delta)) for value in epsilons]
    start = epsilons.index(first.epsilon)
    controls = _controls(first, places[start], start, len(places) - 1)
    table = f'<div id="twin">{html_table(HEADER, first.rows())}</div>'
    return MovingWorlds(controls, table, _in_script(places), _intro(first))


def two_worlds_page(epsilon: Any = 1, delta: Any = 0) -> str:
    """The part as a page of its own."""
    part = moving_worlds(epsilon, delta)
    title = "Two worlds, one promise"
    body = (f"<h1>{title}</h1>", f"<p>{part.intro}</p>", part.controls, "<h2>The same as a table</h2>", part.table)
    return document(title, "\n".join(body), style=STYLE + WORLDS_STYLE, script=WORLDS_SCRIPT, data=part.data)


def _intro(worlds: Worlds) -> str:
    but = f", but for a part of δ = {amounts.text_of(worlds.delta)}" if worlds.delta else ""
    return (
        f"A count is published with noise. Without you it is {WITHOUT}, with you {WITH}. Whoever sees the "
        "published number must guess which world it came from. The promise is a band: with you, no output may be "
        f"likelier than e^ε times its chance without you, nor less likely than e^−ε times it{but}."
    )


def _controls(worlds: Worlds, place: dict[str, Any], start: int, last: int) -> str:
    return "\n".join(
        (
            '<form id="form" hidden><label for="slider">ε <input type="range" id="slider" min="0" '
            f'max="{last}" value="{start}" aria-label="ε, the promise"></label>'
            f'<input type="number" id="number" min="0.1" max="5" step="any" value="{place["epsilon"]:g}" '
            'aria-label="ε as a number"></form>',
            f"<noscript><p>Without scripts the page stays at ε = {place['epsilon']:g}.</p></noscript>",
            f"<figure>{_chart(place, worlds)}</figure>",
            _key(worlds.delta > 0),
            f'<p id="noise">{escape(place["noise"])}</p>',
            f'<p id="sentence" aria-live="polite">{escape(place["sentence"])}</p>',
        )
    )


def _key(has_tail: bool) -> str:
    """Colours, each with the shape that tells it apart."""
    line = '<svg viewBox="0 0 36 14" aria-hidden="true"><path d="M0 7H36" class="{0}"/></svg>'
    block = '<svg viewBox="0 0 36 14" aria-hidden="true"><path d="M0 0H36V14H0Z" class="{0}"/></svg>'
    parts = [(line.format("without"), "without you"), (line.format("present"), "with you")]
    parts += [(block.format("band"), "band e^±ε"), *([(block.format("tail"), "beyond it: δ")] if has_tail else [])]
    return f'<ul class="key">{"".join(f"<li>{mark}{name}</li>" for mark, name in parts)}</ul>'


def _chart(place: dict[str, Any], worlds: Worlds) -> str:
    alt = f"Two laws of a published count, one step apart, inside a band. {worlds.sentence}"
    base = _HEIGHT - _BOTTOM
    ticks = "".join(
        f'<path class="axis" stroke-opacity=".35" d="M{_LEFT} {_y(share)}H{_WIDTH}"/>'
        f'<text id="tick{i}" x="{_LEFT - 6}" y="{_y(share) + 4}" text-anchor="end">{place["ticks"][i]}</text>'
        for i, share in enumerate((0.0, 0.5, 1.0))
    )
    outputs = "".join(
        f'<text x="{_x(k + 0.5)}" y="{base + 22}" text-anchor="middle">{k}</text>' for k in SHOWN if k % 10 == 0
    )
    shapes = "".join(
        f'<path id="{name}" class="{name}" d="{place[name]}"/>' for name in ("band", "tail", "without", "present")
    )
    return (
        f'<svg class="worlds" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(alt)}">'
        f'{shapes}{ticks}{outputs}<path class="axis" d="M{_LEFT} {base}H{_WIDTH}"/></svg>'
    )


def _place(worlds: Worlds) -> dict[str, Any]:
    """All that changes with ε: paths, the numbers at the axis, cells of the table, sentences."""
    top = 1.12 * max(*worlds.without, *worlds.present)
    low, high = ([min(value / top, 1.2) for value in side] for side in worlds.band)
    without, present = ([value / top for value in law] for law in (worlds.without, worlds.present))
    beyond = "".join(
        f"M{_x(k)} {_y(h)}H{_x(k + 1)}V{_y(p)}H{_x(k)}Z"
        for k, p, h, b in zip(SHOWN, present, high, worlds.beyond, strict=True)
        if b > 1e-9 * p * top
    )
    return {
        "epsilon": float(worlds.epsilon),
        "band": f"{_steps(high)}L{_back(low)}Z",
        "without": _steps(without),
        "present": _steps(present),
        "tail": beyond,
        "ticks": [f"{100 * top * share:.2g} %" for share in (0.0, 0.5, 1.0)],
        "cells": [cell for _, *cells in worlds.rows() for cell in cells],
        "sentence": worlds.sentence,
        "noise": f"{worlds.noise[0].upper()}{worlds.noise[1:]}.",
    }


def _steps(heights: list[float]) -> str:
    """A staircase from left to right."""
    parts = [f"V{_y(height)}H{_x(k + 1)}" for k, height in zip(SHOWN, heights, strict=True)]
    return f"M{_x(SHOWN[0])} {_y(heights[0])}{''.join(parts)}"


def _back(heights: list[float]) -> str:
    """The same from right to left, without its first letter."""
    parts = [f"V{_y(height)}H{_x(k)}" for k, height in reversed(list(zip(SHOWN, heights, strict=True)))]
    return f"{_x(SHOWN[-1] + 1)} {_y(heights[-1])}{''.join(parts)}"


def _x(place: float) -> float:
    return round(_LEFT + (place - SHOWN[0]) * (_WIDTH - _LEFT) / len(SHOWN), 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - min(share, 1 + _TOP / _HEIGHT)) * (_HEIGHT - _BOTTOM - _TOP), 1)


def _in_script(value: Any) -> str:
    """JSON that cannot end its element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
