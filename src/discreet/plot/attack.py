"""The picture of an attack: its success raw and under each ε, beside blind guessing and the ceiling of the promise."""

from textwrap import fill
from typing import TYPE_CHECKING, Any

from discreet.inert import visible
from discreet.plot.style import AS_TEXT, FAINT, INK, PENS, empty_figure, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.attack.result import Chart, Result

_MARK_WIDTH = 10  # characters, so that names of eight points stand beside each other
_NARROW = 0.32  # half the width of a mark for a ceiling, in columns


def attack_picture(result: "Result") -> "Figure":
    """The attack's own curves where it has some, else a point for each column with its interval."""
    with rules():
        figure, axes = empty_figure()
        if result.chart is None:
            _draw_columns(axes, result)
        else:
            _draw_chart(axes, result.chart)
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        title = f"{result.name.replace('_', ' ')}: {result.metric}"
        figure.suptitle(visible(title), x=0.1, y=0.965, ha="left", va="top", fontsize=14, fontweight="bold", **AS_TEXT)
        caption = f"Ceilings are for {result.units}; {result.trials:,} trials."
        if result.of_real_data:
            caption = f"PRIVATE, for the curator alone. {caption}"
        figure.text(0.1, 0.02, visible(caption), ha="left", va="bottom", color=FAINT, fontsize=9.5, **AS_TEXT)
        figure.subplots_adjust(left=0.12, right=0.95, top=0.88, bottom=0.17)
    return figure


def _draw_columns(axes: "Axes", result: "Result") -> None:
    columns = [] if result.raw is None else [("raw", result.without, result.raw)]
    columns += [(epsilon, f"ε = {epsilon}", value) for epsilon, value in result.private.items()]
    for place, (key, _, value) in enumerate(columns):
        low, high = result.intervals.get(key, (value, value))
        pen = PENS[0 if key == "raw" else 1]
        error = ((max(value - low, 0),), (max(high - value, 0),))
        axes.errorbar((place,), (value,), yerr=error, fmt=pen.marker, color=pen.colour, markersize=9, capsize=6)
        style: Any = {"textcoords": "offset points", "va": "center"}
        axes.annotate(f"{value:.3g}", (place, value), xytext=(12, 0), color=INK, **style)
        ceiling = result.ceiling.get(key)
        if ceiling is not None:
            axes.hlines(ceiling, place - _NARROW, place + _NARROW, color=INK, linewidth=1.6)
            axes.annotate("ceiling", (place - _NARROW, ceiling), xytext=(0, 5), color=INK, fontsize=9, **style)
    if result.baseline is not None:
        axes.axhline(result.baseline, color=FAINT, linestyle="dotted")
        end: Any = {"textcoords": "offset points", "va": "bottom", "ha": "right"}
        axes.annotate("blind guessing", (len(columns) - 0.45, result.baseline), xytext=(0, 3), color=FAINT, **end)
    axes.set_xticks(range(len(columns)), [label for _, label, _ in columns])
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.set_ylabel(visible(result.metric), **AS_TEXT)


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
