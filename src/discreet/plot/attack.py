"""The picture of an attack: its success raw and under each ε, beside blind guessing and the ceiling of the promise."""

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, INK, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARK_WIDTH = 10  # characters, so that names of eight points stand beside each other
_NARROW = 0.32  # half the width of a mark for a ceiling, in columns


@dataclass(frozen=True)
class Column:
    """One number of an attack with the ends of its interval, and the ceiling over it."""

    label: str
    value: float
    low: float
    high: float
    ceiling: float | None = None


@dataclass(frozen=True)
class Line:
    """One curve of an attack's own picture: points, and how the curve is called."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """Curves that show more than one number a column: worlds after each table, errors of repeated questions."""

    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    marks: tuple[str, ...] = ()  # names of the points on the x axis, where it has no scale


def attack_picture(
    shown: "tuple[Column, ...] | Chart", *, title: str, measure: str, guessing: float | None, caption: str
) -> "Figure":
    """Columns as points with their intervals, beside a dotted line for blind guessing; or the curves of a chart."""
    with rules():
        figure, axes = empty_figure()
        if isinstance(shown, Chart):
            _draw_chart(axes, shown)
        else:
            _draw_columns(axes, shown, guessing)
            axes.set_ylabel(visible(measure), **AS_TEXT)
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        figure.suptitle(visible(title), x=0.1, y=0.965, ha="left", va="top", fontsize=14, fontweight="bold", **AS_TEXT)
        figure.text(0.1, 0.02, visible(caption), ha="left", va="bottom", color=FAINT, fontsize=9.5, **AS_TEXT)
        figure.subplots_adjust(left=0.12, right=0.95, top=0.88, bottom=0.17)
    return figure


def _draw_columns(axes: "Axes", columns: tuple[Column, ...], guessing: float | None) -> None:
    for place, column in enumerate(columns):
        pen = PENS[1 if column.label.startswith("ε") else 0]
        error = ((max(column.value - column.low, 0),), (max(column.high - column.value, 0),))
        axes.errorbar((place,), (column.value,), yerr=error, fmt=pen.marker, color=pen.colour, markersize=9, capsize=6)
        style: Any = {"textcoords": "offset points", "va": "center"}
        top: Any = {"textcoords": "offset points", "va": "bottom", "ha": "center"}
        axes.annotate(f"{column.value:.3g}", (place, max(column.value, column.high)), xytext=(0, 8), color=INK, **top)
        if column.ceiling is not None:
            axes.hlines(column.ceiling, place - _NARROW, place + _NARROW, color=INK, linewidth=1.6)
            axes.annotate("ceiling", (place - _NARROW, column.ceiling), xytext=(0, 5), color=INK, fontsize=9, **style)
    if guessing is not None:
        axes.axhline(guessing, color=FAINT, linestyle="dotted")
        start: Any = {"textcoords": "offset points", "va": "bottom", "ha": "left"}
        axes.annotate("blind guessing", (-0.55, guessing), xytext=(0, 3), color=FAINT, **start)
    axes.set_xticks(range(len(columns)), [visible(column.label) for column in columns])
    axes.set_xlim(-0.6, len(columns) - 0.4)


def _draw_chart(axes: "Axes", chart: "Chart") -> None:
    for place, line in enumerate(chart.lines):
        pen = PENS[place % len(PENS)]
        axes.plot(line.x, line.y, marker=pen.marker, linestyle=pen.dash, color=pen.colour, label=visible(line.name))
    axes.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    if chart.marks:
        marks = [fill(visible(mark), _MARK_WIDTH) for mark in chart.marks]
        axes.set_xticks(range(len(marks)), marks, fontsize=10, **AS_TEXT)
    axes.set_xlabel(visible(chart.x), **AS_TEXT)
    axes.set_ylabel(visible(chart.y), **AS_TEXT)
    if len(chart.lines) > 1:
        axes.legend(frameon=False)
